# SPDX-License-Identifier: LGPL-2.1-only
"""Schemas of input files, as `weft schema` prints them."""

from weft.api.input_checks import call, choice
from weft.schemas.input_files import SCHEMAS, schema_of

__all__ = ["schema"]


@call
def schema(name: str) -> dict[str, object]:
    """Return the JSON schema of the files that users write, for editors and for checks.

    Args:
        name: Kind of file: fabric, campaign, jobs, faults, traffic or training.

    Returns:
        The schema, draft 7, with the meaning of each key.

    Raises:
        WeftError: There is no such kind of file.
    """
    return schema_of(choice("name", name, tuple(SCHEMAS)))
