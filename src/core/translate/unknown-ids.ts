import type { Cleaning } from '../../formats/body-view.ts';
import { GatewayError } from '../../plugin/index.ts';
import {
  hasReferences,
  isReference,
  type Operation,
  type RequestBody,
  type ResolvedTarget,
  isObject,
} from '../kernel/index.ts';

import { LossReport } from '../../formats/losses/losses.ts';

type IdTarget = Pick<ResolvedTarget, 'format' | 'takesUnknownIds' | 'usesCallersToken'>;

/**
 * Refuses ids of responses, items and conversations that the gateway does not keep for the caller: the keys of an entry
 * share the vendor's account, where an id continues the response of any of them. References to reasoning are left out.
 * Reads the body as it will be sent, because a config of the caller can set fields. Throws GatewayError.
 */
export function withoutUnknownIds(operation: Operation, body: RequestBody, target: IdTarget): Cleaning | undefined {
  if (target.format !== 'openai-responses' || operation.format.name !== target.format) return undefined;
  if (target.usesCallersToken !== true && body.has('background') && body.value('background') === true)
    throw new GatewayError(
      'unsupported_parameter',
      'The gateway does not give out responses that run in the background: send the request without `background`.',
      { param: 'background' },
    );
  if (target.takesUnknownIds === true) return undefined;
  refuse((key) => (body.has(key) ? body.value(key) : undefined));
  const cleaning = hasReferences(operation, body) ? withoutReasoning(body.value('input')) : undefined;
  for (const object of operation.fields?.lifted ?? []) {
    const lifted = body.has(object) ? body.value(object) : undefined;
    if (!isObject(lifted)) continue;
    refuse((key) => lifted[key], `${object}.`);
    if (operation.hasReferences?.(lifted) === true) refuseFirst(lifted['input'], `${object}.`);
  }
  return cleaning;
}

/** Throws for a reference to anything else. */
function withoutReasoning(input: unknown): Cleaning | undefined {
  if (!Array.isArray(input)) return undefined;
  const items = input as readonly unknown[];
  const losses = new LossReport();
  const kept = items.filter((item, at) => {
    if (!isReference(item)) return true;
    if (!item.id.startsWith(REASONING)) throw notKept(item.id, `input[${at}]`);
    losses.dropped(`input[${at}]`, 'the gateway does not keep this reasoning');
    return false;
  });
  return { edits: [{ path: ['input'], value: kept, source: 'gateway' }], losses: losses.list() };
}

const REASONING = 'rs_';

function refuse(valueOf: (key: string) => unknown, within = ''): void {
  const previous = valueOf('previous_response_id') ?? undefined;
  if (previous !== undefined)
    throw new GatewayError(
      'previous_response_not_found',
      `Previous response with id ${shown(previous)} not found. Send the whole \`input\`.`,
      { param: `${within}previous_response_id` },
    );
  if ((valueOf('conversation') ?? undefined) === undefined) return;
  throw new GatewayError(
    'unsupported_parameter',
    'The gateway keeps no conversations, and this target’s account is not the caller’s own: send the whole `input`.',
    { param: `${within}conversation` },
  );
}

function refuseFirst(input: unknown, within: string): void {
  const items = Array.isArray(input) ? (input as readonly unknown[]) : [];
  const at = items.findIndex(isReference);
  const item = items[at];
  if (isReference(item)) throw notKept(item.id, `${within}input[${at}]`);
}

const notKept = (id: string, place: string): GatewayError =>
  new GatewayError(
    'invalid_value',
    `Item with id ${shown(id)} not found: send the whole items, which the AI SDK does with \`store\` false.`,
    { param: `${place}.id` },
  );

/** As OpenAI quotes an id. */
const shown = (id: unknown): string => `'${(typeof id === 'string' ? id : JSON.stringify(id)).slice(0, 100)}'`;
