import { compareModelIds, type ListedModel } from '../../src/core/kernel/index.ts';
import { GatewayError } from '../../src/plugin/index.ts';

/** Query parameters of the model list (docs/protocols/anthropic-messages.md#models). */
interface ModelPage {
  readonly limit: number;
  /** Ids after which, or before which, the page lies; they may no longer exist. */
  readonly after: string | undefined;
  readonly before: string | undefined;
  /** Undefined: the default stages. */
  readonly lifecycle: readonly string[] | undefined;
}

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1000;
const LIFECYCLE: readonly string[] = ['active', 'deprecated', 'retired'];

/** Throws GatewayError. Parameters that the API does not have are ignored: its beta clients append `?beta=true`. */
export function readPage(query: string): ModelPage {
  const params = new URLSearchParams(query);
  const one = (name: string): string | undefined => {
    const [value, second] = params.getAll(name);
    if (second !== undefined) throw invalid(name, 'occurs twice');
    return value === '' ? undefined : value;
  };
  const [after, before] = [one('after_id'), one('before_id')];
  if (after !== undefined && before !== undefined) throw invalid('before_id', 'cannot be combined with `after_id`');
  const stages = [...params.getAll('lifecycle'), ...params.getAll('lifecycle[]')];
  if (!stages.every((stage) => LIFECYCLE.includes(stage)))
    throw invalid('lifecycle', `must be of ${LIFECYCLE.join(', ')}`);
  return { limit: readLimit(one('limit')), after, before, lifecycle: stages.length > 0 ? stages : undefined };
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MAX_LIMIT) throw invalid('limit', `must be a whole number from 1 to ${MAX_LIMIT}`);
  return limit;
}

const invalid = (param: string, why: string): GatewayError =>
  new GatewayError('invalid_value', `The query parameter \`${param}\` ${why}.`, { param });

/** @param models in the order of their ids */
export function toAnthropicPage(
  models: readonly ListedModel[],
  { limit, after, before, lifecycle }: ModelPage,
): object {
  // The gateway knows no lifecycle: every model counts as active.
  const known = !lifecycle || lifecycle.includes('active') ? models : [];
  const rest = known.filter(
    ({ id }) =>
      (after === undefined || compareModelIds(id, after) > 0) &&
      (before === undefined || compareModelIds(id, before) < 0),
  );
  const page = before === undefined ? rest.slice(0, limit) : rest.slice(-limit);
  return {
    data: page.map(toAnthropicModel),
    has_more: rest.length > page.length,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

/** Values that the API uses for unknown facts: a date at the epoch, and null. */
export const toAnthropicModel = ({ id, name, maxInput, maxOutput, ...facts }: ListedModel): object => ({
  type: 'model',
  id,
  display_name: name,
  created_at: '1970-01-01T00:00:00Z',
  lifecycle: 'active',
  deprecated_at: null,
  retires_at: null,
  line: null,
  max_input_tokens: maxInput ?? null,
  max_tokens: maxOutput ?? null,
  capabilities: toAnthropicCapabilities(facts),
});

type Facts = Pick<ListedModel, 'capabilities' | 'efforts' | 'thinking'>;

/** Has every key (docs/protocols/anthropic-messages.md#models). Null where the gateway knows no capabilities. */
function toAnthropicCapabilities({ capabilities: known, efforts, thinking }: Facts): object | null {
  if (!known) return null;
  const has = supportIn(known);
  const effort = supportIn(efforts);
  const type = supportIn(thinking);
  return {
    // The gateway serves no batches.
    batch: UNSUPPORTED,
    citations: has('citations'),
    code_execution: UNSUPPORTED,
    context_management: {
      supported: false,
      clear_thinking_20251015: null,
      clear_tool_uses_20250919: null,
      compact_20260112: null,
    },
    effort: {
      supported: efforts !== undefined && efforts.length > 0,
      low: effort('low'),
      medium: effort('medium'),
      high: effort('high'),
      xhigh: effort('xhigh'),
      max: effort('max'),
    },
    image_input: has('vision'),
    pdf_input: has('pdf'),
    server_tools: { ...has('search'), code_execution: UNSUPPORTED, web_search: has('search') },
    structured_outputs: has('schema'),
    thinking: {
      ...has('reasoning'),
      types: {
        adaptive: type('adaptive'),
        between_tools: type('between_tools'),
        disabled: type('disabled'),
        enabled: type('enabled'),
      },
    },
  };
}

const UNSUPPORTED = { supported: false } as const;

const supportIn =
  (list: readonly string[] = []) =>
  (name: string): { readonly supported: boolean } => ({ supported: list.includes(name) });
