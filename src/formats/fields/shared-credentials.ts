import { VENDOR_OBJECTS } from './vendor-objects.ts';

/**
 * Fields that reach resources of a whole provider account, shared by all callers: objects that other callers stored, servers that the
 * account is connected to, stored completions, labels of its bill. Names match in either case; names after `**.` match at any depth
 * outside free maps.
 */
export const SHARED_CREDENTIALS: readonly string[] = [
  // Objects that only some values of a field name are found by these values.
  ...VENDOR_OBJECTS.flatMap(({ path, ids }) => (ids ? [] : path)),
  '**.mcp_servers',
  // OpenAI's counterpart: tools of type `mcp`, whose server is a connector, a tunnel or a URL.
  '**.connector_id',
  '**.tunnel_id',
  '**.server_url',
  '**.labels',
  '**.store',
];

/**
 * Fields that name the same servers of tools (MCP) in other APIs: the gateway translates `mcp_servers` and tools of type `mcp` into each
 * other, so a rule that denies one of them denies these too (docs/operate/allowed-fields.md#mcp-servers).
 */
export const SAME_SERVERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['mcp_servers', ['**.server_url', '**.connector_id', '**.tunnel_id']],
  ['server_url', ['**.mcp_servers']],
]);

/** Keys whose string values are text for the model, whatever they look like. */
export const TEXT_KEYS: ReadonlySet<string> = new Set([
  'text',
  'content',
  'arguments',
  'system',
  'prompt',
  'negative_prompt',
  'thinking',
  'reasoning_content',
  'refusal',
  'description',
  'name',
  'title',
  'stop',
  'stop_sequences',
  'stopSequences',
  'user',
]);
