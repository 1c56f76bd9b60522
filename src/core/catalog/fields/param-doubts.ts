import { apiOf, completed } from '../../../formats/fields/written-for.ts';
import type { ParameterApi } from '../../../formats/fields/field-table.ts';
import { ConfigParams } from '../../../formats/config-params.ts';
import type { Conversation } from '../../../formats/conversation.ts';
import { RequestFault } from '../../../formats/faults.ts';
import { formats } from '../../../formats/index.ts';
import { operations } from '../../operations/index.ts';
import type { Spoken } from '../../providers/definition.ts';

/** An operation of each API, and a body for it. */
const SAMPLES: Readonly<Record<ParameterApi, { readonly id: string; readonly body: object }>> = {
  chat: { id: 'chat.completions', body: { messages: [{ role: 'user', content: 'hi' }] } },
  messages: { id: 'messages', body: { messages: [{ role: 'user', content: 'hi' }], max_tokens: 4096 } },
  responses: { id: 'responses', body: { input: 'hi' } },
  gemini: { id: 'gemini.generate_content', body: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] } },
};

/** Content has a place in requests of its own API alone, and providers check labels themselves. */
const UNJUDGED: ReadonlySet<string> = new Set(['model', 'messages', 'input', 'contents', 'prompt', 'stream']);

/** The mistake in a parameter of a config, by the schema of the API that it is written for; undefined: none, or a name of no API. */
export function mistakeIn(name: string, written: unknown): string | undefined {
  const value = completed(name, written);
  const api = apiOf(name, value);
  if (api === undefined || UNJUDGED.has(name) || name === 'labels') return undefined;
  const { id, body } = SAMPLES[api];
  const operation = operations.find((one) => one.id === id)!;
  const request = { model: 'm', ...body, [name]: value };
  const fault = operation.validate(request);
  if (fault) return fault.message.replace(/\.$/, '');
  try {
    formats[operation.format.name].decodeRequest(request);
    return undefined;
  } catch (error) {
    return error instanceof RequestFault ? error.message.replace(/\.$/, '') : undefined;
  }
}

/** A conversation to try a parameter in. Some parameters need a tool, and some a high limit of tokens. */
const STUB: Conversation = {
  model: '',
  turns: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
  sampling: {},
  maxTokens: 64_000,
  tools: [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }],
  stream: false,
};

/** The reason that no target of the list gets a parameter. Undefined where one gets it, or where it is not known. */
export function lostAt(name: string, written: unknown, model: string, targets: readonly Spoken[]): string | undefined {
  const value = completed(name, written);
  const api = apiOf(name, value);
  if (api === undefined || UNJUDGED.has(name)) return undefined;
  const reasons = targets.map((target) => reasonAt({ api, name, value }, model, target));
  return reasons.every((reason) => reason !== undefined) ? reasons[0] : undefined;
}

function reasonAt(
  { api, name, value }: { readonly api: ParameterApi; readonly name: string; readonly value: unknown },
  model: string,
  spoken: Spoken,
): string | undefined {
  const { format, host, extensions } = spoken;
  const labelHeader = host === 'vertex' && format !== 'gemini';
  const target = { model, host, extensions, labelHeader, strict: true };
  try {
    const params = new ConfigParams(new Map([[api, { [name]: value }]]));
    const losses = params.patch({ ...STUB, model }, formats[format], target)?.losses ?? [];
    return losses.find(({ param, action }) => action === 'dropped' && param === name)?.reason;
  } catch (error) {
    const isRefused = error instanceof RequestFault && error.code === 'unsupported_parameter';
    return isRefused ? error.message.replace(/\.$/, '') : undefined;
  }
}
