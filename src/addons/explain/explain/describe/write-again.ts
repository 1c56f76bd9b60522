import { CatalogTarget, codecOf, entryOf, quirksOf } from '../../../../core/catalog/catalog-target.ts';
import type { Writing } from '../../explanation/field-sources/probes.ts';
import { formats } from '../../../../formats/index.ts';
import {
  RequestBody,
  systemClock,
  type Edit,
  type Exchange,
  type InboundRequest,
  type ResolvedTarget,
} from '../../../../plugin/index.ts';
import { createTranslator } from '../../../../core/translate/translator.ts';
import type { Observation, SeenAttempt } from '../observation.ts';
import { valueAt } from '../../../../core/settings/read/pointer.ts';
import { isObject } from '../../../../formats/json/object.ts';
import { parseJson } from '../../../../formats/json/read.ts';

/** All inputs of an encoded request; the sources of fields are paths into this. */
interface WrittenFrom {
  readonly body: unknown;
  /** The caller's headers that affect the encoding; absent, like labels, if there are none. */
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly labels?: Readonly<Record<string, unknown>>;
  /** The upstream's name of the model. */
  readonly model: unknown;
  readonly strict: unknown;
}

/** Only the translation of replies reads the time. */
const translator = createTranslator(systemClock);

/** Encodes an attempt's request again, from other inputs. Pure: does not change the observation. */
export function writeAgain({ exchange, headerNames }: Observation, one: SeenAttempt): Writing | undefined {
  const { attempt, resolved, written } = one;
  const entry = resolved && entryOf(resolved);
  if (!resolved || !entry || !written) return undefined;
  const relevant = relevantHeaders(exchange, one);
  const input: WrittenFrom = {
    body: parsed(written.encode().toString()),
    ...(Object.keys(relevant).length > 0 && { headers: relevant }),
    ...(Object.keys(exchange.labels).length > 0 && { labels: exchange.labels }),
    model: resolved.model,
    strict: exchange.strict ?? attempt.target.strict ?? true,
  };
  const write = (changed: unknown): unknown => {
    const { body, headers, labels, model, strict } = partsOf(changed);
    const others = Object.fromEntries(
      Object.entries(exchange.request.headers).filter(([name]) => !Object.hasOwn(relevant, name)),
    );
    const all = { ...others, ...textsOf(headers) };
    const request = derived<InboundRequest>(exchange.request, {
      headers: all,
      // A probe skips validation; the encoder throws for invalid input.
      bodyValidated: true,
      header: (name: string) => headerNames.read(all, name),
    });
    const view = derived<Exchange>(exchange, { request, labels: textsOf(labels), strict: strict === true });
    const bytes = Buffer.from(JSON.stringify(body));
    const again = derived<SeenAttempt['attempt']>(attempt, {
      // A probe may change a part to one that no API has. It is left out, which shows the fields that depend on it.
      target: derived(attempt.target, { onUnreadablePart: 'drop' }),
      body: RequestBody.read(bytes, Number.POSITIVE_INFINITY).edit(ofOtherApis(written, body)),
    });
    const { outbound } = translator.prepare(view, again, withModel(resolved, String(model)));
    return { body: parsed(outbound.body.toString()), headers: outbound.headers };
  };
  return { input, write };
}

/** The edits that set parameters of other APIs, with the values of a probe. The translator finds these parameters by their edits. */
const ofOtherApis = ({ edits }: RequestBody, body: unknown): readonly Edit[] =>
  edits.flatMap((edit) => (edit.of === undefined ? [] : [{ ...edit, value: valueAt(body, edit.path) }]));

/** An object that inherits from `from`, with some properties replaced. */
const derived = <T extends object>(from: T, replaced: Partial<T>): T =>
  Object.defineProperties(
    Object.create(from) as T,
    Object.fromEntries(Object.entries(replaced).map(([name, value]) => [name, { value, enumerable: true }])),
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

/** The caller's headers that the encoder reads. */
function relevantHeaders({ request }: Exchange, { attempt }: SeenAttempt): Readonly<Record<string, string>> {
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
  const { origin, path, format, host, headers, streamUsage, modelInBody, extensions, customTools, modelLabel } =
    resolved;
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
    ...(extensions && { extensions }),
    ...(customTools !== undefined && { customTools }),
    ...(codec && { codec }),
    ...(quirks && { quirks }),
  };
  return new CatalogTarget(entry, location, modelLabel, { estimates: resolved.estimatesTokens ?? false });
}

/** Returns text that is not JSON unchanged. */
export function parsed(text: string): unknown {
  const json = parseJson(text);
  return json === undefined ? text : json;
}
