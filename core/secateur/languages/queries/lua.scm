(function_declaration) @function
(assignment_statement (variable_list . name: (_) @name) (expression_list . value: (function_definition))) @function
(field name: (identifier) @name value: (function_definition)) @function
(function_call name: [(identifier) @call (dot_index_expression field: (identifier) @call)
 (method_index_expression method: (identifier) @call)])
[(if_statement) (elseif_statement) (for_statement) (while_statement) (repeat_statement)
 (binary_expression ["and" "or"])] @branch
(comment) @note
(assignment_statement (expression_list . value: (function_definition body: (_) @body)))
(field value: (function_definition body: (_) @body))
