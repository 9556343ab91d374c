[(class_declaration) (protocol_declaration)] @class
[(function_declaration) (protocol_function_declaration)] @function
(init_declaration "init" @name) @function
(deinit_declaration "deinit" @name) @function
(subscript_declaration "subscript" @name) @function
(class_declaration (inheritance_specifier inherits_from: (_) @base))
(protocol_declaration (inheritance_specifier inherits_from: (_) @base))
(import_declaration) @import
(call_expression . [(simple_identifier) @call
 (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @call))
 (prefix_expression target: (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @call)))])
[(if_statement) (guard_statement) (for_statement) (while_statement) (repeat_while_statement) (switch_entry)
 (catch_block) (ternary_expression) "&&" "||"] @branch
[(comment) (multiline_comment) (attribute)] @note
