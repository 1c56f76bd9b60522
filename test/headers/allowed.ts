import { canariesIn, type Canary } from './canaries.ts';
import { CUSTOM_HOST, originOf, OWN_HEADER, SECRETS, slugOf } from './files.ts';
import type { ConfigPlan, EntryKind, Plan } from './generated.ts';
import type { SentRequest } from './serve.ts';

/** Where a request goes: an entry by index, or a place that the request itself names. */
export type Place = number | 'custom host' | 'vertex-ai';

export interface Found extends Canary {
  /** Name of the header, `address` or `body`. */
  readonly as: string;
}

/** One request at one place. */
export interface Situation {
  readonly plan: Plan;
  readonly place: Place;
  readonly config: ConfigPlan | undefined;
  /** Names that `Connection` of the request lists. */
  readonly connection: readonly string[];
}

export function foundIn({ origin, path, headers, body }: SentRequest): readonly Found[] {
  const texts = [['address', origin.url + path], ['body', body?.toString() ?? ''], ...Object.entries(headers)] as const;
  return texts.flatMap(([as, text]) => canariesIn(text).map((one) => ({ ...one, as })));
}

export function placeOf({ origin: { url } }: SentRequest, { entries }: Plan): Place | undefined {
  const entry = entries.findIndex((_, index) => originOf(index) === url);
  if (entry >= 0) return entry;
  if (url === `https://${CUSTOM_HOST}`) return 'custom host';
  return url === 'https://us-central1-aiplatform.googleapis.com' ? 'vertex-ai' : undefined;
}

/** Why the canary must not be there; undefined where it may. Reads the generated settings only, so that it shares no fault with the code. */
export function leakIn(found: Found, situation: Situation): string | undefined {
  const { owner, what, as } = found;
  const { plan, place } = situation;
  if (owner === 'gateway') return 'a gateway key leaves the gateway';
  if (owner === 'caller')
    return as === 'authorization' && plan.auth && takesCallersToken(place, plan.entries)
      ? undefined
      : "the caller's token goes to a place that does not ask for it";
  if (owner !== 'header') return ownSecret(found, situation) ? undefined : `a credential of ${owner} goes elsewhere`;
  if (forwardedTo(situation).includes(what) && as === what)
    return situation.connection.includes(what) ? 'a header of the connection is forwarded' : undefined;
  if (as === 'anthropic-beta' && speaksClaude(situation) && asksForBetas(what, plan)) return undefined;
  return what === as && as === 'anthropic-version' && speaksClaude(situation)
    ? undefined
    : 'a header is sent on that no setting names';
}

const ownSecret = ({ owner, what, as }: Found, { plan, place }: Situation): boolean =>
  typeof place === 'number' && owner === slugOf(place) && SECRETS[plan.entries[place]!].headers[as] === what;

export const takesCallersToken = (place: Place, entries: readonly EntryKind[]): boolean =>
  typeof place === 'number' ? SECRETS[entries[place]!].callersToken : true;

/** A custom host speaks the API of OpenAI. Requests to Vertex AI without an entry name a Claude model (requests.ts). */
const speaksClaude = ({ place, plan }: Situation): boolean =>
  typeof place === 'number' ? SECRETS[plan.entries[place]!].claude : place === 'vertex-ai';

const asksForBetas = (name: string, { prefixes }: Plan): boolean =>
  name === 'anthropic-beta' ||
  prefixesOf(prefixes).some((prefix) => name === `${prefix}anthropic-beta` || name === `${prefix}familya-beta`);

/** A bare word stands for `x-WORD-`. */
export const prefixesOf = (prefixes: Plan['prefixes']): readonly string[] =>
  prefixes.map((prefix) => (prefix.endsWith('-') ? prefix : `x-${prefix}-`));

/** The nearest list, from the target up to its config; lower-case names. */
function forwardedTo({ place, config }: Situation): readonly string[] {
  if (!config) return [];
  const target = config.targets.find(({ entry }) => entry === place);
  return (target?.forward ?? (target && config.group?.forward) ?? config.forward ?? []).map((name) =>
    name.toLowerCase(),
  );
}

/** Headers that the request must have and lacks. Without this check a gateway that sends nothing would pass. */
export function missingIn(
  found: readonly Found[],
  headers: readonly string[],
  situation: Situation,
): readonly string[] {
  const { place, plan, connection } = situation;
  const kind = typeof place === 'number' ? plan.entries[place]! : undefined;
  const secrets = kind === undefined ? [] : Object.entries(SECRETS[kind].headers);
  const overwritten = kind?.includes('headers and') ? [OWN_HEADER] : [];
  // Vertex AI without an entry drops unknown betas.
  const refused = place === 'vertex-ai' ? ['anthropic-beta'] : [];
  const without = [...connection, ...overwritten, ...refused];
  const forwarded = forwardedTo(situation).filter((name) => headers.includes(name) && !without.includes(name));
  return [
    ...secrets.flatMap(([as, what]) =>
      found.some((one) => one.what === what && one.as === as) ? [] : [`its own ${as}`],
    ),
    ...forwarded.flatMap((name) =>
      found.some(({ what, as }) => what === name && as === name) ? [] : [`forwarded ${name}`],
    ),
  ];
}
