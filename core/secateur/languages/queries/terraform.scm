(config_file (body (block [(string_lit (template_literal) @name) (identifier) @name]) @class))
(comment) @note
(config_file (body (block (body) @body)))
