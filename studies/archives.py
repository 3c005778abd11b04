# SPDX-License-Identifier: LGPL-2.1-only
"""Archives of source code, whose digests are known."""

import tarfile
from copy import copy


def with_filter(archive: tarfile.TarFile) -> tarfile.TarFile:
    """Let an archive extract only plain data; Pythons before 3.11.4 cannot restrict it."""
    archive.extraction_filter = getattr(tarfile, "data_filter", None)
    return archive


def renamed(member: tarfile.TarInfo, name: str) -> tarfile.TarInfo:
    """Return a member of an archive that is extracted by another name."""
    its = copy(member)
    its.name = name
    return its
