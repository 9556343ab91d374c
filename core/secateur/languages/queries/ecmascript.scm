[(function_declaration) (generator_function_declaration)] @function
[(arrow_function) (function_expression) (generator_function)] @lambda
(class_declaration) @class
(class) @class
(method_definition) @method
(object [(method_definition) (pair value: [(arrow_function) (function_expression) (generator_function)])]) @object
(variable_declarator value: [(arrow_function) (function_expression) (generator_function) (class) (object)
 (call_expression)
  (new_expression) (member_expression)]) @bind
(assignment_expression right: [(arrow_function) (function_expression) (generator_function) (class) (object)
 (call_expression)
  (new_expression) (identifier)]) @bind
(pair value: [(arrow_function) (function_expression) (generator_function) (object)]) @bind
(export_statement) @export
(call_expression arguments: (arguments . [(string) (template_string)] [(arrow_function) (function_expression)])) @titled
(call_expression function: [(identifier) (member_expression)] @callee)
(call_expression function: (super) @super)
(new_expression constructor: [(identifier) (member_expression)] @callee)
(variable_declarator) @variable
(assignment_expression) @assigned
(for_in_statement) @loop
[(return_statement) (yield_expression)] @returned
[(if_statement) (ternary_expression) (binary_expression operator: "&&")] @test
(import_statement) @import
((call_expression function: [(identifier) (import)] @_loader arguments: (arguments . (string))) @load (#any-of? @_loader
 "require" "import"))
[(if_statement) (for_statement) (for_in_statement) (while_statement) (do_statement) (switch_case) (catch_clause)
 (ternary_expression) "&&" "||" "??"] @branch
(comment) @note
