[(class_declaration) (object_declaration)] @class
(function_declaration) @function
(secondary_constructor "constructor" @name) @function
(class_declaration (delegation_specifiers (delegation_specifier
 [(user_type) @base (constructor_invocation (user_type) @base)])))
(object_declaration (delegation_specifiers (delegation_specifier
 [(user_type) @base (constructor_invocation (user_type) @base)])))
(package_header (qualified_identifier (identifier) @package))
(import) @import
(import (qualified_identifier (identifier) @import.path))
(import "*" @import.star)
(call_expression . [(identifier) @call (navigation_expression (identifier) @call .)])
[(if_expression) (for_statement) (while_statement) (do_while_statement) (when_entry) (catch_block) "&&" "||"] @branch
[(line_comment) (block_comment) (annotation)] @note
(class_declaration [(class_body) (enum_class_body)] @body)
(object_declaration (class_body) @body)
(function_declaration (function_body) @body)
(secondary_constructor (block) @body)
