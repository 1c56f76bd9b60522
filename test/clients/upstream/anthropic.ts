import { createHash } from 'node:crypto';
import { USAGE } from '../words.ts';
import { refuse, type Answer, type Ask } from './ask.ts';
import { fields, isFields, list, only, text, words, type Fields } from './strict.ts';
import { halves, RETRY_AFTER, type Wire } from './wire.ts';
import type { SeenRequest } from '../../support/upstream.ts';

/**
 * Anthropic's Messages, at Anthropic and on Vertex AI (docs/protocols/anthropic-messages.md#request-fields,
 * docs/protocols/vertex-ai.md#claude-on-vertex-ai).
 */

/** Signs the text of a thought as it is shown. Base64 with all of its alphabet, which neither ids nor URLs bear. */
export const claudeSignature = (shown: string): string =>
  `Q2xhdWRl+/${createHash('sha256').update(shown).digest('base64')}`;

const TOP = words(
  'max_tokens messages system stop_sequences stream temperature top_p top_k thinking output_config ' +
    'tools tool_choice metadata service_tier cache_control',
);
const COUNTED = ['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking', 'output_config', 'cache_control'];
const BLOCKS: Readonly<Record<string, readonly string[]>> = {
  text: ['text', 'citations'],
  image: ['source'],
  thinking: ['thinking', 'signature'],
  tool_use: ['id', 'name', 'input', 'caller'],
  tool_result: ['tool_use_id', 'content', 'is_error'],
};

interface Turn {
  readonly role: string;
  readonly blocks: readonly Fields[];
}

const onVertex = (url: string): boolean => url.includes('/publishers/anthropic/');

/** Fields of a beta: a request without its name in `anthropic-beta` is refused. */
const CONTEXT_BETAS = { clear: 'context-management-2025-06-27', compact: 'compact-2026-01-12' } as const;
const DEFERS = ['advanced-tool-use-2025-11-20', 'tool-search-tool-2025-10-19'];
const TOOL_FIELDS = words('name description input_schema type cache_control');
/** Fields of tools that Anthropic's own API has without a beta, and Vertex AI only with one or not at all. */
const DIRECT_TOOL_FIELDS = words('strict eager_input_streaming input_examples allowed_callers');
const SCOPES = 'prompt-caching-scope-2026-01-05';

/** Vertex AI refuses every other name (docs/protocols/vertex-ai.md#claude-betas). */
const VERTEX_BETAS = words(
  'claude-code-20250219 compact-2026-01-12 computer-use-2025-01-24 computer-use-2025-11-24 context-1m-2025-08-07 ' +
    'context-management-2025-06-27 interleaved-thinking-2025-05-14 tool-search-tool-2025-10-19 web-search-2025-03-05',
);

const betasOf = ({ headers }: SeenRequest): readonly string[] =>
  String(headers['anthropic-beta'] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);

const modelOf = ({ url, json }: SeenRequest): string =>
  /\/models\/([^:]+):/.exec(url)?.[1] ?? text(json['model'], 'model');

/** Thinks adaptively, and takes system turns between others (docs/protocols/anthropic-messages.md#thinking). */
const isNew = (request: SeenRequest): boolean => /^claude-(?:opus|sonnet)-5/.test(modelOf(request));

function checkEnvelope(request: SeenRequest): void {
  const { url, headers, json: body } = request;
  const betas = betasOf(request);
  checkScopes(request);
  const enabled = 'context_management' in body ? checkEdits(body['context_management'], betas) : [];
  if (onVertex(url)) {
    only(body, 'request', [...TOP, ...enabled, 'anthropic_version']);
    if ('format' in fields(body['output_config'] ?? {}, 'output_config'))
      refuse('output_config.format: Extra inputs are not permitted');
    const unknown = betas.find((beta) => !VERTEX_BETAS.includes(beta));
    if (unknown !== undefined) refuse(`Unexpected value(s) \`${unknown}\` for the \`anthropic-beta\` header.`);
    if (body['anthropic_version'] !== 'vertex-2023-10-16') refuse('anthropic_version: Field required');
    if (url.includes(':streamRawPredict') !== (body['stream'] === true)) refuse('stream does not go with the verb.');
  } else {
    only(body, 'request', [...TOP, ...enabled, 'model']);
    if (!text(body['model'], 'model').startsWith('claude-')) refuse('model: not one of ours');
    if (headers['anthropic-version'] === undefined) refuse('anthropic-version: header is required');
  }
  if (!Number.isInteger(body['max_tokens'])) refuse('max_tokens: Field required');
}

/** Each edit needs the beta of its kind. */
function checkEdits(value: unknown, betas: readonly string[]): readonly string[] {
  const { edits = [] } = only(value, 'context_management', ['edits']);
  for (const edit of list(edits, 'context_management.edits')) {
    const kind = text(fields(edit, 'edit')['type'], 'type').startsWith('compact') ? 'compact' : 'clear';
    if (!betas.includes(CONTEXT_BETAS[kind])) refuse('context_management: Extra inputs are not permitted');
  }
  return ['context_management'];
}

/** `scope` of a cache marker, wherever the marker stands. */
function checkScopes(request: SeenRequest): void {
  if (betasOf(request).includes(SCOPES)) return;
  JSON.stringify(request.json, (key, value: unknown) =>
    key === 'cache_control' && isFields(value) && 'scope' in value
      ? refuse('cache_control.ephemeral.scope: Extra inputs are not permitted')
      : value,
  );
}

/** A token count (docs/protocols/anthropic-messages.md#count-tokens). */
export function readCount({ url, json: body }: SeenRequest): void {
  only(body, 'request', onVertex(url) ? [...COUNTED, 'anthropic_version'] : COUNTED);
  if (!text(body['model'], 'model').startsWith('claude-')) refuse('model: not one of ours');
  readTurns(body, false);
}

function readTurns(body: Fields, systemTurns: boolean): readonly Turn[] {
  const turns: Turn[] = [];
  for (const [index, message] of list(body['messages'], 'messages').entries()) {
    const at = `messages.${index}`;
    const { role: written, content } = only(message, at, ['role', 'content']);
    // What a system turn says comes between turns, as a user's text does.
    const role = systemTurns && index > 0 && written === 'system' ? 'user' : written;
    if (role !== 'user' && role !== 'assistant') refuse(`${at}.role: must be user or assistant`);
    const blocks = readBlocks(content, `${at}.content`);
    // Consecutive turns of one role are one turn to the API.
    const before = turns.at(-1);
    if (before?.role === role) turns.splice(-1, 1, { role, blocks: [...before.blocks, ...blocks] });
    else turns.push({ role, blocks });
  }
  if (turns[0]?.role !== 'user') refuse('messages: first message must use the user role');
  turns.forEach((turn, index) => checkCalls(turn, turns[index + 1], index));
  return turns;
}

function readBlocks(content: unknown, at: string): readonly Fields[] {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : list(content, at);
  return blocks.map((block, index) => {
    const type = text(fields(block, at)['type'], `${at}.${index}.type`);
    const known = BLOCKS[type] ?? refuse(`${at}.${index}: Input tag '${type}' is unknown`);
    const read = onlyOf(block, `${at}.${index}`, known);
    if (type === 'text' && text(read['text'], `${at}.text`) === '') refuse('text content blocks must be non-empty');
    if (type === 'tool_use' && !/^[\w-]+$/.test(text(read['id'], `${at}.id`))) refuse(`${at}.id: must match pattern`);
    if (type === 'tool_use') fields(read['input'], `${at}.input`);
    if (type === 'thinking' && read['signature'] !== claudeSignature(text(read['thinking'], `${at}.thinking`)))
      refuse('Invalid `signature` in `thinking` block');
    if (type === 'image') checkImage(read['source'], `${at}.source`);
    if (type === 'tool_result') checkResult(read['content'] ?? [], `${at}.${index}.content`);
    return read;
  });
}

function checkResult(content: unknown, at: string): void {
  const other = readBlocks(content, at).find(({ type }) => type !== 'text' && type !== 'image');
  if (other) refuse(`${at}: a result has no block ${String(other['type'])}`);
}

/** `citations`, `content` and `caller` are null in replies that come back. */
const onlyOf = (block: unknown, at: string, known: readonly string[]): Fields =>
  only(
    Object.fromEntries(Object.entries(fields(block, at)).filter(([key, value]) => value !== null || key === 'text')),
    at,
    ['type', 'cache_control', ...known],
  );

function checkImage(value: unknown, at: string): void {
  const { type, media_type: mime } = only(value, at, ['type', 'media_type', 'data']);
  if (type !== 'base64') refuse(`${at}.type: only base64 here`);
  if (!/^image\/(?:jpeg|png|gif|webp)$/.test(text(mime, `${at}.media_type`))) refuse(`${at}.media_type: not supported`);
}

const blocksOf = ({ blocks }: Turn, type: string): readonly Fields[] =>
  blocks.filter((block) => block['type'] === type);

function checkCalls(turn: Turn, after: Turn | undefined, index: number): void {
  const at = `messages.${index}`;
  const results = blocksOf(turn, 'tool_result');
  if (turn.blocks.slice(0, results.length).some((block) => block['type'] !== 'tool_result'))
    refuse(`${at}: tool_result blocks must come first`);
  if (turn.role === 'user') return;
  if (results.length > 0) refuse(`${at}: tool_result blocks can only be in user messages`);
  const answered = after ? blocksOf(after, 'tool_result').map((block) => block['tool_use_id']) : [];
  const asked = blocksOf(turn, 'tool_use').map((block) => block['id']);
  if (asked.length !== answered.length || asked.some((id) => !answered.includes(id)))
    refuse(`${at}: tool_use ids were found without tool_result blocks immediately after`);
}

function checkThinking(body: Fields, turns: readonly Turn[], adaptive: boolean): boolean {
  const thinking = only(body['thinking'] ?? { type: 'disabled' }, 'thinking', ['type', 'budget_tokens', 'display']);
  if (thinking['type'] === 'disabled') return false;
  if (adaptive)
    return thinking['type'] === 'adaptive' || refuse('thinking.type: enabled is not supported by this model');
  // The other models are of 4.5, which think by budget alone (docs/protocols/anthropic-messages.md#thinking).
  if (thinking['type'] !== 'enabled') refuse('thinking.type: adaptive is not supported by this model');
  const budget = Number(thinking['budget_tokens']);
  if (!(budget >= 1024 && budget < Number(body['max_tokens'])))
    refuse('thinking.budget_tokens: at least 1024 and less than max_tokens');
  if ((body['temperature'] ?? 1) !== 1 || 'top_k' in body) refuse('temperature may only be set to 1 with thinking');
  const choice = fields(body['tool_choice'] ?? { type: 'auto' }, 'tool_choice')['type'];
  if (choice === 'any' || choice === 'tool') refuse('Thinking may not be enabled when tool_choice forces tool use.');
  for (const turn of turns.slice(-2))
    if (blocksOf(turn, 'tool_use').length > 0 && turn.blocks[0]?.['type'] !== 'thinking')
      refuse('Expected `thinking`, but found `text`: a final assistant message must start with a thinking block');
  return true;
}

function readTools(request: SeenRequest): { tools: string[]; forced: string | undefined } {
  const { json: body } = request;
  const defers = betasOf(request).some((beta) => DEFERS.includes(beta));
  const tools = list(body['tools'] ?? [], 'tools').map((tool) => {
    const { type } = fields(tool, 'tools[]');
    if (typeof type === 'string' && type !== 'custom') return readServerTool(tool, type);
    const known = [...TOOL_FIELDS, ...(onVertex(request.url) ? [] : DIRECT_TOOL_FIELDS)];
    const { name, input_schema: schema } = only(tool, 'tools[]', defers ? [...known, 'defer_loading'] : known);
    if (fields(schema, 'input_schema')['type'] !== 'object') refuse('tools.input_schema.type: Field required');
    return text(name, 'tools.name');
  });
  const choice = only(body['tool_choice'] ?? { type: 'auto' }, 'tool_choice', [
    'type',
    'name',
    'disable_parallel_tool_use',
  ]);
  if (choice['type'] === 'none') return { tools: [], forced: undefined };
  if (choice['type'] === 'any') return { tools, forced: tools[0] };
  return { tools, forced: choice['type'] === 'tool' ? text(choice['name'], 'tool_choice.name') : undefined };
}

const SERVER_TOOLS: Readonly<Record<string, readonly string[]>> = {
  web_search_20250305: ['max_uses', 'allowed_domains', 'blocked_domains', 'user_location'],
  tool_search_tool_regex_20251119: [],
};

function readServerTool(tool: unknown, type: string): string {
  const known = SERVER_TOOLS[type] ?? refuse(`tools: Input tag '${type}' is unknown`);
  return text(only(tool, 'tools[]', ['type', 'name', 'cache_control', ...known])['name'], 'tools.name');
}

function readFormat(body: Fields): boolean {
  const format = only(body['output_config'] ?? {}, 'output_config', ['effort', 'format'])['format'];
  if (format === undefined) return false;
  const { schema } = only(format, 'output_config.format', ['type', 'schema']);
  if (fields(schema, 'schema')['additionalProperties'] !== false)
    refuse('output_config.format.schema: additionalProperties must be false');
  return true;
}

const plainText = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : list(value ?? [], 'content')
        .map((block) => (isFields(block) ? (block['text'] ?? '') : ''))
        .join('');

export const anthropic: Wire = {
  read(request): Ask {
    checkEnvelope(request);
    const { json: body } = request;
    const turns = readTurns(body, isNew(request));
    const last = turns.at(-1)!;
    const before = turns.at(-2);
    const results = blocksOf(last, 'tool_result');
    const source = blocksOf(last, 'image')[0]?.['source'];
    const image = source === undefined ? undefined : fields(source, 'source');
    return {
      system: plainText(body['system']),
      question:
        turns
          .flatMap((turn) => (turn.role === 'user' ? blocksOf(turn, 'text') : []))
          .map(({ text }) => text)
          .at(-1)
          ?.toString() ?? '',
      stream: body['stream'] === true,
      ...readTools(request),
      results:
        results.length === 0 || !before
          ? undefined
          : blocksOf(before, 'tool_use').map(({ id }) =>
              plainText(results.find((block) => block['tool_use_id'] === id)?.['content']),
            ),
      json: readFormat(body),
      image: image && { mime: text(image['media_type'], 'media_type'), data: text(image['data'], 'data') },
      thinks: checkThinking(body, turns, isNew(request)),
      signed: before !== undefined && blocksOf(before, 'thinking').length > 0,
      rounds: turns.filter((turn) => blocksOf(turn, 'tool_use').length > 0).length,
    };
  },

  reply: (answer, request) => ({ ...messageOf(answer, request), content: blocksFor(answer, request) }),

  stream(answer, request) {
    const { url } = request;
    return [
      ...(onVertex(url) ? ['event: vertex_event\ndata: {"usage":1}\n\n'] : []),
      frame({
        type: 'message_start',
        message: {
          ...messageOf(answer, request),
          content: [],
          stop_reason: null,
          usage: { input_tokens: inputOf(answer), output_tokens: 1 },
        },
      }),
      frame({ type: 'ping' }),
      ...blocksFor(answer, request).flatMap((block, index) => blockEvents(block, index)),
      frame({
        type: 'message_delta',
        delta: { stop_reason: stopOf(answer), stop_sequence: null },
        usage: { output_tokens: outputOf(answer) },
      }),
      frame({ type: 'message_stop' }),
    ];
  },

  error(status, message, retryAfter = RETRY_AFTER) {
    const known = status === 503 ? 529 : status;
    const headers = { 'request-id': 'req_upstream', ...(status === 429 && { 'retry-after': String(retryAfter) }) };
    return { status: known, headers, body: errorOf(TYPES[known] ?? 'api_error', message) };
  },

  streamError: frame(errorOf('overloaded_error', 'The model is overloaded.')),
};

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  529: 'overloaded_error',
};

function errorOf(type: string, message: string) {
  return { type: 'error', error: { type, message }, request_id: 'req_upstream' };
}

function frame(event: Fields & { readonly type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

const stopOf = ({ calls }: Answer): string => (calls.length > 0 ? 'tool_use' : 'end_turn');
const inputOf = ({ input = USAGE.input }: Answer): number => input;
const outputOf = ({ thought }: Answer): number => USAGE.output + (thought === undefined ? 0 : USAGE.thought);

function messageOf(answer: Answer, { json: body }: SeenRequest) {
  return {
    // Claude Code takes two messages with one id for one message.
    id: `msg_up${list(body['messages'], 'messages').length}`,
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5-20250929',
    stop_reason: stopOf(answer),
    stop_sequence: null,
    usage: { input_tokens: inputOf(answer), output_tokens: outputOf(answer) },
  };
}

function blocksFor({ thought, text, calls }: Answer, { json: body }: SeenRequest): Fields[] {
  const shown = fields(body['thinking'] ?? {}, 'thinking')['display'] === 'omitted' ? '' : thought;
  return [
    ...(thought === undefined ? [] : [{ type: 'thinking', thinking: shown, signature: claudeSignature(shown ?? '') }]),
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...calls.map(({ id, name, args }, index) => ({
      type: 'tool_use',
      id: id ?? `toolu_0${index + 1}`,
      name,
      input: args,
    })),
  ];
}

function blockEvents(block: Fields, index: number): string[] {
  const events = (empty: Fields, deltas: readonly Fields[]): string[] => [
    frame({ type: 'content_block_start', index, content_block: { ...block, ...empty } }),
    ...deltas.map((delta) => frame({ type: 'content_block_delta', index, delta })),
    frame({ type: 'content_block_stop', index }),
  ];
  if (block['type'] === 'text')
    return events(
      { text: '' },
      halves(String(block['text'])).map((piece) => ({ type: 'text_delta', text: piece })),
    );
  if (block['type'] === 'thinking')
    return events({ thinking: '', signature: '' }, [
      ...halves(String(block['thinking'])).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
      { type: 'signature_delta', signature: block['signature'] },
    ]);
  return events({ input: {} }, [
    { type: 'input_json_delta', partial_json: '' },
    ...halves(JSON.stringify(block['input'])).map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
  ]);
}
