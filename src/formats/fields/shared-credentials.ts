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
  // OpenAI's counterpart: tools of type `mcp`, whose server is a connector or a URL.
  '**.connector_id',
  '**.server_url',
  '**.labels',
  '**.store',
];

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
