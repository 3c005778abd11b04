/* SPDX-License-Identifier: LGPL-2.1-only */
/* Library that a plugin needs. */
static int parts;

int next_part(void)
{
  return ++parts;
}
