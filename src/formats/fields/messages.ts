import { MODEL_LISTS, type FieldTable } from './field-table.ts';

/**
 * Fields that the conversation holds. The decoder keeps every other field under its name: the whole body is passed on, not
 * an allow-list.
 */
export const MESSAGES_CONVERSATION = [
  'model',
  'messages',
  'system',
  'stream',
  'max_tokens',
  'stop_sequences',
  'temperature',
  'top_p',
  'top_k',
  'thinking',
  'output_config',
  'output_format',
  'tools',
  'tool_choice',
  'metadata',
  'service_tier',
] as const;

/** POST /v1/messages and its token count (docs/protocols/anthropic-messages.md#request-fields). */
export const messagesFields: FieldTable = {
  read: [
    ...MESSAGES_CONVERSATION,
    'speed',
    'cache_control',
    'container',
    'context_management',
    'mcp_servers',
    'inference_geo',
    'diagnostics',
    'anthropic_beta',
    'anthropic_version',
    ...MODEL_LISTS,
  ],
  // `output_format` is the deprecated spelling (docs/protocols/anthropic-messages.md#output-config). `thinking` and
  // `output_config.effort` are no synonyms: a request may set both.
  synonyms: [['output_config.format', 'output_format']],
  bothCases: false,
  lifted: [],
  models: MODEL_LISTS,
  freeMaps: [
    'metadata',
    'labels',
    'tools[].input_schema',
    'tools[].input_examples',
    'messages[].content[].input',
    'output_config.format.schema',
    'output_format.schema',
  ],
};
