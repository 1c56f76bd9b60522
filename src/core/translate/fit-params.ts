import type { Conversation, JsonObject, Loss } from '../../formats/conversation.ts';
import { RequestFault } from '../../formats/faults.ts';
import { isObject, rest } from '../../formats/json/object.ts';
import { joinLosses } from '../../formats/losses/losses.ts';
import { spellingsOf, type Prepared, type RequestBody } from '../kernel/index.ts';
import type { Edit } from '../../plugin/index.ts';
import type { FittedChange } from '../../formats/config-params.ts';
import { encodingTarget, type TranslationJob } from './translation-job.ts';

/** A request in its target's API, with the parameters of a config in the form that the target takes. */
interface FittedJob {
  readonly job: TranslationJob;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly losses: readonly Loss[];
}

/** Content, which parameters do not change. Only thinking depends on the turns. */
const TURNS = ['messages', 'input', 'contents'];
/** A count that may hold the whole request (docs/protocols/gemini.md#count-tokens). */
const NESTED = ['generateContentRequest', 'generate_content_request'];

/**
 * Writes the parameters of a config that have another API's names into a body of the target's own API. The bytes of its
 * content stay. Undefined: the request has to be written anew, because its answer has to be translated. Throws
 * RequestFault.
 */
export function fitParams(job: TranslationJob): FittedJob | undefined {
  const { configParams, operation, upstream, attempt } = job;
  if (!configParams) return { job, headers: undefined, losses: [] };
  const { body } = attempt;
  const nested = NESTED.find((name) => body.has(name) && isObject(body.value(name)));
  const fields = fieldsOf(body, nested, configParams.changesThinking);
  const patch = configParams.patch(stubOf(job, fields), upstream, encodingTarget(job));
  if (!patch) return undefined;
  const spellings = spellingsOf(operation.fields);
  const edits = patch.changes.map((change): Edit => {
    const path = spelled(change.path, fields, (key) => spellings.ofKey(key));
    return {
      path: nested === undefined ? path : [nested, ...path],
      value: valueOf(change, fields, path),
      source: 'gateway',
    };
  });
  const fitted = { ...job, attempt: derived(attempt, body.edit(edits)) };
  return { job: fitted, headers: patch.headers, losses: patch.losses };
}

export function withParams(prepared: Prepared, { headers, losses }: FittedJob): Prepared {
  const { outbound } = prepared;
  return {
    ...prepared,
    losses: joinLosses(prepared.losses, losses),
    ...(headers && { outbound: { ...outbound, headers: { ...outbound.headers, ...headers } } }),
  };
}

/** The attempt as the translator sees it, with another body. */
export const derived = (attempt: TranslationJob['attempt'], body: RequestBody): TranslationJob['attempt'] =>
  Object.create(attempt, { body: { value: body, writable: true, enumerable: true } }) as TranslationJob['attempt'];

function fieldsOf(body: RequestBody, nested: string | undefined, withTurns: boolean): JsonObject {
  if (nested !== undefined) return rest(body.value(nested) as JsonObject, withTurns ? [] : TURNS) ?? {};
  const keys = body.keys().filter((key) => withTurns || !TURNS.includes(key));
  return Object.fromEntries(keys.map((key) => [key, body.value(key)]));
}

/** The conversation of the body's settings. Demands no limit of a count, whose API has none. */
function stubOf({ operation: { format, task } }: TranslationJob, fields: JsonObject): Conversation {
  const empty = Object.fromEntries(TURNS.map((key) => [key, []]));
  const conversation = format.decodeRequest({ model: '', ...empty, ...fields });
  const turns = conversation.turns.length > 0 ? conversation.turns : HELLO;
  const limited = conversation.maxTokens !== undefined || task !== 'count_tokens';
  return {
    ...conversation,
    turns,
    stream: false,
    ...(!limited && { maxTokens: format.counting?.demandedMaxTokens ?? 4096 }),
  };
}

const HELLO = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'hi' }] }];

function spelled(path: readonly string[], fields: JsonObject, namesOf: (key: string) => readonly string[]): string[] {
  let at: unknown = fields;
  return path.map((key) => {
    const name = isObject(at) ? namesOf(key).find((one) => Object.hasOwn(at as JsonObject, one)) : undefined;
    at = name === undefined ? undefined : (at as JsonObject)[name];
    return name ?? key;
  });
}

/** Where the parameters only add items to a list, it keeps the client's own items. */
function valueOf({ value, added }: FittedChange, fields: JsonObject, path: readonly string[]): unknown {
  if (!added) return value;
  let own: unknown = fields;
  for (const key of path) own = isObject(own) ? own[key] : undefined;
  return Array.isArray(own) ? [...(own as readonly unknown[]), ...added] : value;
}

/** Parameters that are left out where the target refuses them, by their names in each API: the request has an answer without them. */
const LEFT_OUT = [
  ['n'],
  ['modalities'],
  ['audio'],
  ['generationConfig', 'candidateCount'],
  ['generationConfig', 'responseModalities'],
  ['generationConfig', 'speechConfig'],
];

/** An app that does not know of a parameter that the config has set gets its answer. Undefined for any other fault. */
export function withoutRefused(
  error: unknown,
  { body, target }: TranslationJob['attempt'],
): { body: RequestBody; loss: Loss } | undefined {
  if (!(error instanceof RequestFault) || error.code !== 'unsupported_parameter' || error.param === null)
    return undefined;
  const keys = error.param.split('.');
  const path = LEFT_OUT.find((one) => one.every((key, at) => keys[at] === key));
  if (!path) return undefined;
  const set = body.edits.filter(
    ({ path: edited, source, value }) =>
      value !== undefined && source.startsWith(`${target.path} `) && path.every((key, at) => edited[at] === key),
  );
  if (set.length === 0) return undefined;
  const removal: Edit = { path, value: undefined, source: 'gateway' };
  const reason = error.message.replace(/\.$/, '');
  return { body: body.edit([removal]), loss: { param: path.join('.'), action: 'dropped', reason } };
}
