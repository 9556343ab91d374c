(function_definition) @function
(command name: (command_name (word) @call))
[(if_statement) (elif_clause) (for_statement) (c_style_for_statement) (while_statement) (case_item) "&&" "||"] @branch
(comment) @note
