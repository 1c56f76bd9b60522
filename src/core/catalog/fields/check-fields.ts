import {
  bareName,
  isReference,
  type Exchange,
  type InboundForm,
  type RequestBody,
  type Target,
  type UsedPrompt,
} from '../../kernel/index.ts';
import { GatewayError } from '../../../plugin/index.ts';
import { isObject, objectOf } from '../../../formats/json/object.ts';
import type { FieldRules } from './field-rules.ts';
import { findViolation, type FieldViolation } from './rule-walk.ts';

/** Rules that a body or a target's parameters have passed, so that repeated checks (every attempt, the cache) are skipped. */
const passed = new WeakMap<object, FieldRules[]>();

/** For the caller's body and the parameters of its own config. Throws GatewayError `field_not_allowed`. */
export function checkFields(exchange: Exchange, target: Target, rules: FieldRules | undefined): void {
  if (!rules) return;
  const { body, form } = exchange.request;
  if (form) once(form, rules, () => checkFiles(exchange, form, rules));
  if (body) once(body, rules, () => checkBody(exchange, body, rules));
  const { prompt } = exchange;
  if (prompt && prompt.media.length > 0) once(prompt, rules, () => checkMedia(exchange, prompt, rules));
  if (exchange.config?.id === 'inline') once(target, rules, () => checkParams(exchange, target, rules));
}

function once(subject: object, rules: FieldRules, check: () => void): void {
  const known = passed.get(subject);
  if (known?.includes(rules)) return;
  check();
  if (known) known.push(rules);
  else passed.set(subject, [rules]);
}

/** Files of the API need not be allowed. Other files are fields like any. */
function checkFiles({ operation }: Exchange, form: InboundForm, rules: FieldRules): void {
  const compiled = rules.for(operation?.fields);
  const violationOf = (name: string): FieldViolation | undefined => {
    const bytes = Buffer.from(JSON.stringify({ [name]: '' }));
    return findViolation(bytes, FILES.has(bareName(name)) ? { ...compiled, allowed: undefined } : compiled);
  };
  const [violation] = form.files.flatMap((name) => violationOf(name) ?? []);
  if (violation) throw refusal(violation, rules, '');
  form.fileRules.push((name) => !violationOf(name));
}

/** docs/protocols/audio.md#forms, docs/protocols/images.md#openai-edits */
const FILES: ReadonlySet<string> = new Set(['file', 'image', 'mask']);

function checkBody(exchange: Exchange, body: RequestBody, rules: FieldRules): void {
  const { operation, kept } = exchange;
  const compiled = rules.for(operation?.fields);
  // The gateway has put the response of this id, which it keeps for the key, in its place.
  const violation =
    findViolation(body.original, compiled, kept?.continues) ??
    (compiled.objects?.kinds.has('responses') ? namedItem(exchange, body) : undefined);
  if (violation) throw refusal(violation, rules, '');
}

/** An item of the input that stands for one at the vendor: what the gateway keeps for the key is in its place. */
function namedItem({ operation }: Exchange, body: RequestBody): FieldViolation | undefined {
  if (!operation?.hasReferences) return undefined;
  const asked = body.abridged();
  for (const lifted of [undefined, ...(operation.fields?.lifted ?? [])]) {
    const input = lifted === undefined ? asked['input'] : objectOf(asked[lifted])?.['input'];
    const at = Array.isArray(input) ? input.findIndex((item) => isReference(item) || namesImage(item)) : -1;
    if (at >= 0) return { param: `${lifted === undefined ? '' : `${lifted}.`}input[${at}].id`, object: RESPONSES };
  }
  return undefined;
}

const RESPONSES = { kind: 'responses' } as const;

/** A call without its image asks the vendor for the image that it has stored. */
const namesImage = (item: unknown): boolean =>
  isObject(item) && item['type'] === 'image_generation_call' && typeof item['id'] === 'string' && !item['result'];

/** Checks the parts that values of the caller became: a variable may hold the address of a bucket or the id of a file. */
function checkMedia({ operation }: Exchange, { media }: UsedPrompt, rules: FieldRules): void {
  for (const { variable, part } of media) {
    const bytes = Buffer.from(JSON.stringify({ messages: [{ role: 'user', content: [part] }] }));
    // The caller wrote a variable, and `allow` has decided about that field.
    const violation = findViolation(bytes, { ...rules.for(operation?.fields), allowed: undefined });
    const where = `, which \`variables.${variable}\` sets`;
    if (!violation) continue;
    const field = violation.param.slice('messages[0].content[0].'.length);
    throw refusal({ ...violation, param: field }, rules, where, `variables.${variable}`);
  }
}

function checkParams({ operation, request }: Exchange, target: Target, rules: FieldRules): void {
  const where = `, which the parameters of ${target.path} in ${request.headerName('config')} set`;
  for (const params of [target.defaultParams ?? {}, ...target.overrideLevels]) {
    const violation = findViolation(Buffer.from(JSON.stringify(params)), rules.for(operation?.fields));
    if (violation) throw refusal(violation, rules, where);
  }
}

function refusal(
  violation: FieldViolation,
  { owner }: FieldRules,
  where: string,
  shown = violation.param,
): GatewayError {
  const { param, bucket, object } = violation;
  if (object) {
    const message = `${owner} does not allow ids of the vendor's ${object.kind}, because all keys share its account: \`${param}\`${where}.`;
    // Clients send the whole conversation after this code.
    const code = /(?:^|\.)previous_?response_?id$/i.test(param) ? 'previous_response_not_found' : 'field_not_allowed';
    return new GatewayError(code, message, { param: shown });
  }
  const message =
    bucket === undefined
      ? `${owner} does not allow the field \`${param}\`${where}.`
      : `${owner} does not allow media in the bucket ${JSON.stringify(bucket.slice(0, 100))}: \`${param}\`${where} is outside \`media_buckets\`.`;
  return new GatewayError('field_not_allowed', message, { param: shown });
}
