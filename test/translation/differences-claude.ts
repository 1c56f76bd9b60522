import type { Rule } from './differences.ts';

const of = (subject: string, ...names: readonly string[]): readonly string[] =>
  names.map((name) => `${subject}/${name}`);

/** Gatehouse against `@ai-sdk/anthropic`. */
export const CLAUDE_DIFFERENCES: readonly Rule[] = [
  {
    cases: of('messages', 'system-only'),
    paths: ['messages[]', 'system'],
    reason:
      'docs/protocols/requests.md#system-text-for-claude: Claude refuses a request without messages, so the text is the user’s; the SDK sends none',
  },
  {
    cases: of('messages', 'system-before-and-later'),
    paths: ['system[]', 'messages**'],
    reason:
      'docs/protocols/requests.md#system-text-for-claude: all system messages are hoisted; the SDK needs a beta for later ones',
  },
  {
    cases: of('messages', 'empty-parts'),
    paths: ['messages[]**'],
    reason:
      'docs/protocols/requests.md#empty-text-for-claude: empty texts, and turns of nothing else, are left out; neighbours of one role are merged',
  },
  {
    cases: of('messages', 'blank-part'),
    paths: ['messages[].content[]**'],
    reason:
      'docs/protocols/anthropic-messages.md#content-blocks: a text has to say something; white space is a 400 upstream and a reported loss here',
  },
  {
    cases: of('messages', 'parallel-calls'),
    paths: ['messages[].content[].**'],
    reason:
      'docs/protocols/anthropic-messages.md#order-of-results: the order among results is free; that of the calls makes one conversation one prompt for the cache',
  },
  {
    cases: of('messages', 'result-named'),
    paths: ['messages[].content[].**'],
    reason: 'docs/protocols/anthropic-messages.md#order-of-results: results come before other content of their turn',
  },
  {
    cases: of('messages', 'arguments-list'),
    paths: ['messages[].content[].input'],
    reason: 'docs/protocols/requests.md#arguments: input is an object, other JSON is put into {"value": …}',
  },
  {
    cases: of('messages', 'call-id-of-another'),
    paths: ['messages[].content[].id', 'messages[].content[].tool_use_id'],
    reason: 'docs/protocols/requests.md#call-ids-for-claude: ids Claude does not accept are rewritten, in both places',
  },
  {
    cases: of('media', 'heic'),
    paths: ['refused'],
    reason: 'docs/protocols/anthropic-messages.md#sources: Claude reads JPEG, PNG, GIF and WebP',
  },
  {
    cases: of('media', 'https-image', 'https-image-query', 'https-image-typed', 'gs-image', 'file-url'),
    paths: ['refused'],
    reason: 'docs/protocols/requests.md#http-media: to Claude media go as base64 only',
  },
  {
    cases: of('media', 'csv-file'),
    paths: ['refused'],
    reason: 'other text types are treated as plain text; the SDK throws',
  },
  {
    cases: of('tools', 'search-by-name'),
    paths: ['tools[].type', 'tools[].input_schema'],
    reason: 'docs/protocols/requests.md#bare-search: a function web_search without parameters is the provider’s search',
  },
  {
    cases: of('tools', 'computer-use'),
    paths: ['refused'],
    reason: 'docs/protocols/requests.md#bare-search: a target without a browser refuses computer use',
  },
  {
    cases: of('tools', 'function-rootless', 'search-retrieval', 'google-maps'),
    paths: ['tools[].input_schema.type'],
    reason: 'docs/protocols/requests.md#function-tool: the root of a schema is an object, said or not',
  },
  {
    cases: of('tools', 'choice-unknown'),
    paths: ['refused'],
    reason:
      'docs/protocols/requests.md#forced-tool-without-tool: a forced call needs its tool; a 400 that names `tool_choice` says more than the upstream’s',
  },
  {
    cases: [
      'tools/forced-while-thinking',
      'sampling/temperature-thinking',
      'response-format/schema-while-thinking',
      ...of('reasoning', 'budget', 'budget-large', 'budget-tiny', 'budget-beyond-limit', 'budget-unsaid'),
      ...of('signatures', 'claude-thought', 'claude-thought-in-content', 'redacted-thought', 'thought-lost'),
    ],
    paths: ['max_tokens'],
    reason:
      'docs/protocols/requests.md#budget-below-max-tokens: of the two ways the budget is fitted below max_tokens; the caller’s limit of what is paid for stays',
  },
  {
    cases: [
      'tools/forced-while-thinking',
      ...of('reasoning', 'budget', 'budget-large', 'budget-tiny', 'budget-unsaid'),
      ...of('signatures', 'claude-thought', 'thought-lost'),
    ],
    models: /opus-4-7/,
    paths: ['thinking.type', 'thinking.display', 'thinking.budget_tokens', 'output_config'],
    reason:
      'docs/protocols/anthropic-messages.md#thinking: a budget is a 400 on Opus 4.7: adaptive thinking with an effort says it there',
  },
  {
    cases: of('tools', 'forced-while-thinking'),
    models: /opus-4-7/,
    paths: ['tools[]', 'tool_choice.type', 'tool_choice.name'],
    reason:
      'docs/protocols/anthropic-messages.md#tool-choice: adaptive thinking accepts forced calls; only manual thinking does not',
  },
  {
    cases: of('schemas', 'answer-constraints', 'answer-format'),
    paths: ['output_config.format.schema.properties.**.description'],
    reason:
      'docs/protocols/requests.md#json-schema-for-claude: constraints go into the description by both; only the punctuation differs',
  },
  {
    cases: of('sampling', 'temperature-one', 'temperature-hot', 'top-p-high'),
    models: /opus-4-7/,
    paths: ['temperature', 'top_p'],
    reason:
      'docs/protocols/anthropic-messages.md#sampling: the default of newer models (temperature 1, top_p of 0.99 and more) is accepted',
  },
  {
    cases: of('sampling', 'temperature-top-p'),
    models: /sonnet-4-2025/,
    paths: ['top_p'],
    reason:
      'recorded with 200 on Sonnet 4.0 (docs/protocols/anthropic-messages.md#sampling has the refusal for 4.x): the caller keeps both where they work',
  },
  {
    cases: of('sampling', 'stop-blank'),
    paths: ['stop_sequences[]'],
    reason: 'docs/protocols/requests.md#stop: stop texts of white space are taken out',
  },
  {
    cases: of('response-format', 'object', 'object-system', 'schema-missing'),
    paths: ['system', 'system[]'],
    reason:
      'docs/protocols/requests.md#response-format: where there is no schema, Claude is asked for JSON in the system prompt; the SDK ignores the wish',
  },
  {
    cases: of('response-format', 'schema-described'),
    models: /sonnet-4-5/,
    paths: ['output_config.format.schema.description'],
    reason:
      'docs/protocols/anthropic-messages.md#output-config: the format’s description has no field here; it goes where the model reads it, the SDK drops it',
  },
  {
    cases: of(
      'response-format',
      'schema',
      'schema-described',
      'schema-list',
      'schema-and-tools',
      'schema-while-thinking',
    ),
    models: /sonnet-4-2025/,
    paths: ['tools[].description'],
    reason:
      'docs/protocols/requests.md#the-json-tool: the description of the json tool names its purpose; its text is free',
  },
  {
    cases: of('response-format', 'schema', 'schema-described', 'schema-list', 'schema-no-tool'),
    models: /sonnet-4-2025/,
    paths: ['tool_choice.type', 'tool_choice.name'],
    reason:
      'docs/protocols/requests.md#the-json-tool: the json tool is forced by its name; `any` of one tool is the same',
  },
  {
    cases: of('response-format', 'schema-list'),
    models: /sonnet-4-2025/,
    paths: ['tools[].input_schema.type'],
    reason:
      'docs/protocols/anthropic-messages.md#tools: the input of a tool is an object; the SDK sends a schema the API refuses',
  },
  {
    cases: of('response-format', 'schema-and-forced-tool'),
    models: /sonnet-4-2025/,
    paths: ['tools[]', 'tool_choice.**'],
    reason:
      'docs/protocols/requests.md#the-json-tool: the caller forces this one call now; with the json tool beside it, any could be called',
  },
  {
    cases: of('response-format', 'schema-no-tool'),
    models: /sonnet-4-2025/,
    paths: ['tools[]**'],
    reason:
      'docs/protocols/requests.md#the-json-tool: forcing the json tool keeps the others from being called; leaving them out would lose the prompt cache',
  },
  {
    cases: of('response-format', 'schema-while-thinking'),
    models: /sonnet-4-2025/,
    paths: ['system'],
    reason:
      'docs/protocols/requests.md#the-json-tool: manual thinking cannot be forced to call the json tool, so it is asked to',
  },
  {
    cases: of('reasoning', 'effort-none'),
    models: /sonnet-4-5/,
    paths: ['thinking'],
    reason: 'docs/protocols/requests.md#reasoning: up to 4.5 no thinking is what a request without `thinking` gets',
  },
  {
    cases: of('reasoning', 'effort-xhigh'),
    models: /opus-4-6/,
    paths: ['output_config.effort'],
    reason: 'docs/protocols/requests.md#reasoning: xhigh is known from 4.7 on, before that it is max',
  },
  {
    cases: of('reasoning', 'budget-tiny', 'budget-beyond-limit'),
    paths: ['thinking.budget_tokens'],
    reason: 'docs/protocols/requests.md#budget-below-max-tokens: a budget is 1024 at least and below max_tokens',
  },
  {
    cases: of('reasoning', 'budget-unsaid'),
    paths: ['thinking.budget_tokens'],
    reason:
      'docs/protocols/requests.md#reasoning:thinking without a depth is `high`, and the table has its budget; the SDK takes the smallest there is',
  },
  {
    cases: of('reasoning', 'adaptive', 'adaptive-and-effort'),
    models: /sonnet-4-5/,
    paths: ['thinking.type', 'thinking.budget_tokens', 'output_config'],
    reason: 'docs/protocols/anthropic-messages.md#thinking: up to 4.5 Claude thinks within a budget only',
  },
  {
    cases: of('reasoning', 'adaptive', 'adaptive-and-effort'),
    models: /opus-4-[67]/,
    paths: ['thinking.display'],
    reason: 'docs/protocols/requests.md#visible-thoughts: adaptive thinking is asked to show a summary',
  },
  {
    cases: of('signatures', 'claude-thought-behind-text'),
    paths: ['messages[].content[].**'],
    reason: 'docs/protocols/requests.md#order-for-claude: thinking comes first in its turn',
  },
  {
    cases: of('signatures', 'thought-lost'),
    models: /sonnet-4-5/,
    paths: ['thinking'],
    reason:
      'docs/protocols/replies.md#lost-thinking: a tool loop that lost its thinking goes on without, or the API answers 400',
  },
  {
    cases: of('extensions', 'stream-usage'),
    paths: ['tools[].eager_input_streaming'],
    reason:
      'docs/protocols/anthropic-messages.md#tools: an option of the tool that no caller of the chat API has asked for',
  },
  {
    cases: [...of('tools', 'strict-auto'), ...of('schemas', 'strict-constraints')],
    paths: ['tools[].input_schema**'],
    reason:
      'docs/protocols/requests.md#json-schema-for-claude: the schema of a strict tool is sanitised as that of an answer; the SDK sends it as it is',
  },
];
