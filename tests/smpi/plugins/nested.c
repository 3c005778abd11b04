/* SPDX-License-Identifier: LGPL-2.1-only */
/* Plugin that uses symbols of another one, which the program has opened with RTLD_GLOBAL. */
extern int call(void);

int call_twice(void)
{
  call();
  return call();
}
