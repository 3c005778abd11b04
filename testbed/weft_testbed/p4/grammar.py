# SPDX-License-Identifier: LGPL-2.1-only
"""Grammar for lark (LALR) of the subset of P4_16 that weft's switch programs use.

It follows the P4_16 language specification, version 1.2.4, appendix H. As there, names declared as
types are a separate terminal (`TYPE`), which distinguishes casts from parentheses. Unsupported are
generics other than `bit<…>` and `value_set<…>`, set expressions other than `default`, and
annotations.
"""

GRAMMAR = r"""
program: declaration*

?declaration: constant | type_definition | header | struct | parser | control | instance

constant: "const" type WORD "=" expression ";"
type_definition: "typedef" type TYPE ";"
header: "header" TYPE "{" field* "}"
struct: "struct" TYPE "{" field* "}"
field: type WORD ";"

parser: "parser" WORD "(" parameters ")" "{" (value_set | variable)* state+ "}"
control: "control" WORD "(" parameters ")" "{" local* "apply" block "}"
?local: action | table | variable | constant
instance: WORD "(" [arguments] ")" WORD ";"

parameters: [parameter ("," parameter)*]
parameter: [DIRECTION] type WORD
arguments: expression ("," expression)*

value_set: "value_set" "<" type ">" "(" expression ")" WORD ";"
state: "state" WORD "{" statement* transition "}"
transition: "transition" (WORD | select) ";"?
select: "select" "(" arguments ")" "{" case+ "}"
case: (expression | default) ":" WORD ";"
default: "default"

action: "action" WORD "(" parameters ")" block
table: "table" WORD "{" property* "}"
?property: keys | actions | default_action | size
keys: "key" "=" "{" key* "}"
key: expression ":" WORD ";"
actions: "actions" "=" "{" (WORD ";")* "}"
default_action: "const"? "default_action" "=" WORD "(" ")" ";"
size: "size" "=" expression ";"

block: "{" statement* "}"
?statement: block | assignment | call | condition | return | variable | empty
assignment: expression "=" expression ";"
call: expression ";"
condition: "if" "(" expression ")" statement ["else" statement]
return: "return" ";"
variable: type WORD ["=" expression] ";"
empty: ";"

?expression: either
?either: both | either "||" both -> logic
?both: equality | both "&&" equality -> logic
?equality: comparison | equality "==" comparison -> same | equality "!=" comparison -> same
?comparison: sum | comparison ORDER sum -> order
?sum: unary | sum SIGN unary -> arithmetic
?unary: primary | "!" unary -> negation | "(" type ")" unary -> cast
?primary: WORD -> name | NUMBER -> number | primary "." WORD -> member
        | primary "." "apply" -> apply | primary "(" [arguments] ")" -> invocation
        | "(" expression ")"

type: "bit" "<" NUMBER ">" -> bits | TYPE -> named | "bool" -> boolean

DIRECTION.2: /(inout|in|out)\b/
ORDER: ">=" | "<=" | ">" | "<"
SIGN: "+" | "-"
NUMBER: /0[xX][0-9a-fA-F]+|[0-9]+/
WORD: /[A-Za-z_][A-Za-z0-9_]*/
%declare TYPE
%ignore /[ \t\r\n]+/
%ignore /\/\/[^\n]*/
%ignore /\/\*(.|\n)*?\*\//
%ignore /#include[^\n]*/
"""
