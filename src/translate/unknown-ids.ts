import { isObject } from '../formats/json/object.ts';
import {
  GatewayError,
  hasReferences,
  isReference,
  type Operation,
  type RequestBody,
  type ResolvedTarget,
} from '../plugin/index.ts';

type Place = Pick<ResolvedTarget, 'format' | 'takesUnknownIds'>;

/**
 * Refuses ids of responses, items and conversations that the gateway does not keep for the caller: the plugin `responses` has put what
 * it keeps in their place. The keys of a catalog entry share the vendor's account, where an id alone continues the response of any of
 * them. Reads the body as it will be sent, because a config of the caller can set fields. Throws GatewayError.
 */
export function refuseUnknownIds(operation: Operation, body: RequestBody, target: Place): void {
  if (target.format !== 'openai-responses' || operation.format.name !== target.format) return;
  if (target.takesUnknownIds === true) return;
  refuse((key) => (body.has(key) ? body.value(key) : undefined));
  if (hasReferences(operation, body)) refuseReference(body.value('input'));
  for (const object of operation.fields?.lifted ?? []) {
    const lifted = body.has(object) ? body.value(object) : undefined;
    if (!isObject(lifted)) continue;
    refuse((key) => lifted[key], `${object}.`);
    if (operation.hasReferences?.(lifted) === true) refuseReference(lifted['input'], `${object}.`);
  }
}

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

function refuseReference(input: unknown, within = ''): void {
  const items = Array.isArray(input) ? (input as readonly unknown[]) : [];
  const at = items.findIndex(isReference);
  const item = items[at];
  throw new GatewayError(
    'invalid_value',
    `Item with id ${shown(isReference(item) ? item.id : '')} not found: send the whole items, which the AI SDK does with \`store\` false.`,
    { param: `${within}input[${at}].id` },
  );
}

/** As OpenAI quotes an id. */
const shown = (id: unknown): string => `'${(typeof id === 'string' ? id : JSON.stringify(id)).slice(0, 100)}'`;
