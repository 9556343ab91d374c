(function_definition body: (_)) @function
[(struct_specifier body: (_)) (union_specifier body: (_)) (enum_specifier body: (_))] @class
(type_definition type: [(struct_specifier body: (_)) (union_specifier body: (_)) (enum_specifier body: (_))]) @typedef
(field_declaration type: [(struct_specifier) (union_specifier) (enum_specifier)] declarator: (_)) @member
(preproc_include path: (_) @include)
(call_expression function: (identifier) @call)
(call_expression function: (field_expression field: (field_identifier) @call))
[(field_declaration) (declaration)] @typed
[(if_statement) (for_statement) (while_statement) (do_statement) (case_statement) (conditional_expression) "&&" "||"]
 @branch
(comment) @note
