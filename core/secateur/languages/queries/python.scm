(function_definition) @function
(class_definition) @class
(decorated_definition) @wrapper
(call function: [(identifier) (attribute)] @callee)
(decorator [(identifier) (attribute)] @callee)
(import_statement) @import
(import_from_statement) @import_from
(future_import_statement) @future
(lambda) @lambda
[(list_comprehension) (dictionary_comprehension) (set_comprehension) (generator_expression)] @comprehension
(assignment) @assigned
(named_expression) @walrus
(as_pattern) @alias
(for_statement) @loop
[(assert_statement) (if_statement)] @test
[(return_statement) (yield)] @returned
[(if_statement) (elif_clause) (for_statement) (while_statement) (except_clause) (case_clause) (conditional_expression)
 (boolean_operator) (for_in_clause) (if_clause)] @branch
(comment) @note
