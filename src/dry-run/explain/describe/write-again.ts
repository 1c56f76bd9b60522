import { CatalogTarget, codecOf, entryOf, quirksOf } from '../../../catalog/catalog-target.ts';
import type { Writing } from '../../explanation/field-sources/probes.ts';
import { formats } from '../../../formats/index.ts';
import {
  RequestBody,
  systemClock,
  type Exchange,
  type InboundRequest,
  type ResolvedTarget,
} from '../../../plugin/index.ts';
import { createTranslator } from '../../../translate/translator.ts';
import type { Observation, SeenAttempt } from '../observation.ts';
import { isObject } from '../../../formats/json/object.ts';

/** All that a request is written from, each part at its place: what the sources of fields are paths into. */
export interface WrittenFrom {
  readonly body: unknown;
  /** Those of the caller that have a say; left out, as labels are, where there is none. */
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly labels?: Readonly<Record<string, unknown>>;
  /** Name the upstream knows. */
  readonly model: unknown;
  readonly strict: unknown;
}

/** Only what it has to do with replies asks for the time. */
const translator = createTranslator(systemClock);

/** Writes an attempt's request as it was written, from other parts. Pure: what was seen stays as it is. */
export function writeAgain({ exchange, headerNames }: Observation, one: SeenAttempt): Writing | undefined {
  const { attempt, resolved, written } = one;
  const entry = resolved && entryOf(resolved);
  if (!resolved || !entry || !written) return undefined;
  const heard = heardHeaders(exchange, one);
  const input: WrittenFrom = {
    body: parsed(written.encode().toString()),
    ...(Object.keys(heard).length > 0 && { headers: heard }),
    ...(Object.keys(exchange.labels).length > 0 && { labels: exchange.labels }),
    model: resolved.model,
    strict: exchange.strict ?? attempt.target.strict ?? true,
  };
  const write = (changed: unknown): unknown => {
    const { body, headers, labels, model, strict } = partsOf(changed);
    const others = Object.fromEntries(
      Object.entries(exchange.request.headers).filter(([name]) => !Object.hasOwn(heard, name)),
    );
    const all = { ...others, ...textsOf(headers) };
    const request = derived<InboundRequest>(exchange.request, {
      headers: all,
      // A probe is no request: what its writer cannot read, it throws at.
      bodyValidated: true,
      header: (name: string) => headerNames.read(all, name),
    });
    const view = derived<Exchange>(exchange, { request, labels: textsOf(labels), strict: strict === true });
    const bytes = Buffer.from(JSON.stringify(body));
    const again = derived<SeenAttempt['attempt']>(attempt, { body: RequestBody.read(bytes, Number.POSITIVE_INFINITY) });
    const { outbound } = translator.prepare(view, again, withModel(resolved, String(model)));
    return { body: parsed(outbound.body.toString()), headers: outbound.headers };
  };
  return { input, write };
}

/** An object that says the same but for what is said here. */
const derived = <T extends object>(from: T, says: Partial<T>): T =>
  Object.defineProperties(
    Object.create(from) as T,
    Object.fromEntries(Object.entries(says).map(([name, value]) => [name, { value, enumerable: true }])),
  );

function partsOf(value: unknown): Partial<WrittenFrom> {
  return isObject(value) ? value : {};
}

const textsOf = (value: unknown): Record<string, string> =>
  isObject(value)
    ? Object.fromEntries(
        Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      )
    : {};

/** Headers of the caller that writing a request reads. */
function heardHeaders({ request }: Exchange, { attempt }: SeenAttempt): Readonly<Record<string, string>> {
  const spoken = Object.values(formats).flatMap(({ features, versionHeader }) => [
    ...(versionHeader === undefined ? [] : [versionHeader]),
    ...(features ? [features.header, ...features.ownHeaders.map((name) => request.headerName(name))] : []),
  ]);
  const names = new Set([...attempt.target.forwardHeaders, ...spoken]);
  return Object.fromEntries(
    [...names].flatMap((name) => {
      const value = Object.hasOwn(request.headers, name) ? request.headers[name] : undefined;
      return value === undefined ? [] : [[name, [value].flat().join(', ')]];
    }),
  );
}

function withModel(resolved: ResolvedTarget, model: string): ResolvedTarget {
  const entry = entryOf(resolved);
  if (!entry || model === resolved.model) return resolved;
  const { origin, path, format, host, headers, streamUsage, modelInBody, modelLabel } = resolved;
  const [codec, quirks] = [codecOf(resolved), quirksOf(resolved)];
  const location = {
    origin,
    path,
    format,
    host,
    headers,
    model,
    ...(streamUsage !== undefined && { streamUsage }),
    ...(modelInBody !== undefined && { modelInBody }),
    ...(codec && { codec }),
    ...(quirks && { quirks }),
  };
  return new CatalogTarget(entry, location, modelLabel);
}

/** Text where it is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
