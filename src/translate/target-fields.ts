import { TARGET_FIELDS, type TargetField } from '../formats/anthropic-messages/target-fields.ts';
import { isObject } from '../formats/json/object.ts';
import { joinLosses } from '../formats/losses/losses.ts';
import type { BodyEdit } from '../formats/format.ts';
import type { Loss } from '../formats/conversation.ts';
import { GatewayError, RequestBody, type Operation, type Prepared, type ResolvedTarget } from '../plugin/index.ts';
import { namesIn } from './outbound-headers.ts';

type FieldsTarget = Pick<ResolvedTarget, 'format' | 'host'>;

/** Refuses fields without which the request would mean something else at this target. Throws GatewayError. */
export function refuseFields({ format }: Operation, body: RequestBody, target: FieldsTarget): void {
  if (format.name !== 'anthropic-messages') return;
  const at = targetOf(target);
  if (at === 'claude') return;
  for (const rule of TARGET_FIELDS) {
    const { field, refuses } = rule;
    const action = rule.at[at];
    if (action !== 'refuse' && (action !== 'drop' || !refuses)) continue;
    if (!isPresent(body, field)) continue;
    if (action === 'refuse' || refuses?.(body.value(field))) throw refusal(rule);
  }
}

/**
 * Leaves out the fields of a body for Claude that this host of it does not have, or only with a beta that is not sent.
 * @param written with the headers that are sent
 */
export function withoutForeignFields(
  { format }: Operation,
  caller: RequestBody,
  { target, written }: { readonly target: FieldsTarget; readonly written: Prepared },
): Prepared {
  if (format.name !== 'anthropic-messages' || target.format !== 'anthropic-messages') return written;
  if (targetOf(target) !== 'vertex') return written;
  const edits: BodyEdit[] = [];
  const losses: Loss[] = [];
  for (const rule of TARGET_FIELDS) {
    const action = rule.at.vertex;
    if (action === 'send' || action === 'map') continue;
    // A null asks for nothing, and the host refuses the field with any value.
    if (caller.has(rule.field) && caller.value(rule.field) === null)
      edits.push({ path: [rule.field], value: undefined, source: 'gateway' });
    if (action === 'refuse') continue;
    const ofTools = rule.field.startsWith(OF_TOOLS) ? rule.field.slice(OF_TOOLS.length) : undefined;
    const present = ofTools === undefined ? isPresent(caller, rule.field) : mayHaveToolField(caller, ofTools);
    if (!present || (action === 'beta' && sends(rule, caller, written))) continue;
    if (ofTools !== undefined) {
      withoutToolField(caller, ofTools, { edits, losses });
      continue;
    }
    if (rule.refuses?.(caller.value(rule.field))) throw refusal(rule);
    edits.push({ path: [rule.field], value: undefined, source: 'gateway' });
    losses.push({ param: rule.field, action: 'dropped', reason: reasonOf(rule) });
  }
  if (edits.length === 0) return written;
  const { outbound } = written;
  const bytes = typeof outbound.body === 'string' ? Buffer.from(outbound.body) : outbound.body;
  // The body has been read within its limits before.
  const body = RequestBody.read(bytes, Number.POSITIVE_INFINITY).edit(edits).encode();
  return { ...written, outbound: { ...outbound, body }, losses: joinLosses(written.losses, losses) };
}

const targetOf = ({ format, host }: FieldsTarget): 'claude' | 'vertex' | 'other' => {
  if (format !== 'anthropic-messages') return 'other';
  return host === 'vertex' ? 'vertex' : 'claude';
};

/** A null counts as absent. */
function isPresent(body: RequestBody, field: string): boolean {
  return body.has(field) && (body.value(field) ?? null) !== null;
}

function refusal({ field, code }: TargetField): GatewayError {
  const message = `Only Anthropic's own API has \`${field}\`, and the request would mean something else without it.`;
  return new GatewayError('unsupported_parameter', message, {
    param: field,
    ...(code !== undefined && { upstreamCode: code }),
  });
}

const reasonOf = ({ at }: TargetField): string =>
  at.vertex === 'beta' ? 'Vertex AI takes it only with a beta that is not sent' : 'Vertex AI has no such field';

/** True when a beta of the field is sent, in the header or in the body. */
function sends({ betas = [] }: TargetField, caller: RequestBody, { outbound }: Prepared): boolean {
  const sent = namesIn([outbound.headers['anthropic-beta'] ?? '']);
  const inBody = caller.has('anthropic_beta');
  return betas.some((beta) => sent.includes(beta) || (inBody && outbound.body.includes(`"${beta}"`)));
}

const mayHaveToolField = (body: RequestBody, name: string): boolean =>
  body.has('tools') && body.original.includes(`"${name}"`);

const OF_TOOLS = 'tools[].';

function withoutToolField(
  caller: RequestBody,
  name: string,
  { edits, losses }: { readonly edits: BodyEdit[]; readonly losses: Loss[] },
): void {
  const tools = caller.value('tools');
  if (!Array.isArray(tools)) return;
  const kept = tools.map((tool: unknown, at): unknown => {
    if (!isObject(tool) || !Object.hasOwn(tool, name)) return tool;
    losses.push({
      param: `tools[${at}].${name}`,
      action: 'dropped',
      reason: 'Vertex AI takes it only with a beta that is not sent',
    });
    const { [name]: _, ...others } = tool;
    return others;
  });
  if (kept.some((tool, at) => tool !== tools[at])) edits.push({ path: ['tools'], value: kept, source: 'gateway' });
}
