import type { JsonObject, TextPart } from '../conversation.ts';
import { stringOf } from '../json/read.ts';

/** The field with the content of each item of a tool that the client runs. Other APIs have no such tools. */
const CONTENT: ReadonlyMap<unknown, string> = new Map([
  ['local_shell_call', 'action'],
  ['local_shell_call_output', 'output'],
  ['shell_call', 'action'],
  ['shell_call_output', 'output'],
  ['apply_patch_call', 'operation'],
  ['apply_patch_call_output', 'output'],
]);

export const isClientRun = ({ type }: JsonObject): boolean => CONTENT.has(type);

/** Such an item as text, so that a model of another API knows what was done (docs/protocols/openai-responses.md#items). */
export function clientRunText(item: JsonObject): TextPart {
  const type = stringOf(item.type) ?? '';
  const content = item[CONTENT.get(type) ?? ''];
  const text = typeof content === 'string' ? content : JSON.stringify(content ?? null);
  const tool = type.replace(/_call(?:_output)?$/, '');
  if (!type.endsWith('_output')) return { type: 'text', text: `[Call of the tool ${tool}: ${text}]` };
  const status = item.status === 'failed' || item.status === 'incomplete' ? ` (${item.status})` : '';
  return { type: 'text', text: `[Result of the tool ${tool}${status}:]\n${text}` };
}
