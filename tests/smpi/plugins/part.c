/* SPDX-License-Identifier: LGPL-2.1-only */
/* Library on which a plugin depends. */
static int parts;

int next_part(void)
{
  return ++parts;
}
