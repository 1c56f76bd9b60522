import type { Conversation, FormatName, JsonObject } from './conversation.ts';
import { RequestFault } from './faults.ts';
import type { RequestTarget } from './request-target.ts';
import { toSnake } from './json/field-names.ts';
import { objectOf } from './json/object.ts';

/** The path of a promise in the value of a field; undefined: the value promises nothing. */
type PromiseIn = (value: unknown) => string | undefined;

/** Only Anthropic's own API keeps it (https://platform.claude.com/docs/en/build-with-claude/data-residency). */
const INFERENCE_GEO = 'inference_geo';

/** Fields that promise where data are processed or kept. Fields other than `inference_geo` reach only servers that speak the client's API. */
const PROMISES: ReadonlyMap<string, PromiseIn> = new Map<string, PromiseIn>([
  [INFERENCE_GEO, (value) => ((value ?? 'global') === 'global' ? undefined : '')],
  // OpenRouter: https://openrouter.ai/docs/guides/routing/provider-selection
  [
    'provider',
    among('', {
      only: (value) => value !== null,
      ignore: (value) => value !== null,
      data_collection: (value) => value === 'deny',
      zdr: (value) => value === true,
    }),
  ],
  // Vercel: https://vercel.com/docs/ai-gateway/security-and-compliance/regional-inference
  [
    'provider_options',
    among('gateway', {
      only: (value) => value !== null,
      inferenceRegion: (value) => value !== null,
      zeroDataRetention: (value) => value === true,
    }),
  ],
]);

function among(at: string, promises: Readonly<Record<string, (value: unknown) => boolean>>): PromiseIn {
  return (value) => {
    const object = at === '' ? objectOf(value) : objectOf(objectOf(value)?.[at]);
    const found = Object.entries(promises).find(([key, holds]) => object?.[key] !== undefined && holds(object[key]));
    return found && [...(at === '' ? [] : [at]), found[0]].map((key) => `.${key}`).join('');
  };
}

const keeps = (upstream: FormatName, host: string): boolean => upstream === 'anthropic-messages' && host === 'direct';

/** The promises that only Anthropic's own API keeps, as it spells them. */
export const residencyIn = (extras: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(extras).flatMap(([key, value]) => (isResidency(key) ? [[INFERENCE_GEO, value]] : [])),
  );

export const isResidency = (key: string): boolean => toSnake(key) === INFERENCE_GEO;

/** Refuses a promise that this target of another API cannot keep. Throws RequestFault. */
export function refusePromises(fields: JsonObject, upstream: FormatName, { host }: Pick<RequestTarget, 'host'>): void {
  for (const [key, value] of Object.entries(fields)) {
    if (isResidency(key) && keeps(upstream, host)) continue;
    const path = PROMISES.get(toSnake(key))?.(value);
    if (path === undefined) continue;
    const param = `${key}${path}`;
    throw new RequestFault(
      'unsupported_parameter',
      `\`${param}\` says where the request may be processed, which this target cannot keep.`,
      param,
    );
  }
}

export const refuseElsewhere = ({ extras = {} }: Conversation, upstream: FormatName, target: RequestTarget): void =>
  refusePromises(extras, upstream, target);
