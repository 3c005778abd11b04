/* SPDX-License-Identifier: LGPL-2.1-only */
extern int nobody_has_this(void);

int call_nobody(void)
{
  return nobody_has_this();
}
