import type { CustomTool, JsonObject, Tool } from './conversation.ts';
import { objectOf, parseJson, stringOf } from './json/object.ts';
import type { LossReport } from './losses/losses.ts';

/** A free-text tool for a target without such tools: a function with one string (docs/protocols/requests.md#custom-tool). */
interface TextFunction {
  readonly name: string;
  readonly description?: string;
  readonly parameters: JsonObject;
}

/** @param path place of the tool (losses/places.ts) */
export function asFunction(tool: CustomTool, path: string, losses: LossReport): TextFunction {
  const { name, format } = tool;
  if (format && format.type !== 'text')
    losses.downgraded(
      `${path}.custom.format`,
      'this target cannot restrict free text: its grammar is in the description',
    );
  const texts = [tool.description, grammarOf(format)].filter((text) => text !== undefined);
  return {
    name,
    ...(texts.length > 0 && { description: texts.join('\n\n') }),
    parameters: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
  };
}

function grammarOf(format: JsonObject | undefined): string | undefined {
  const grammar = objectOf(format?.grammar);
  const definition = stringOf(grammar?.definition);
  if (definition === undefined) return undefined;
  return `\`input\` has to match this grammar (${stringOf(grammar?.syntax) ?? 'unknown syntax'}):\n${definition}`;
}

/** Names of free-text tools, whose arguments the reply's decoder unwraps. */
export function customNames(tools: readonly Tool[]): ReadonlySet<string> {
  return new Set(tools.flatMap((tool) => (tool.type === 'custom' ? [tool.name] : [])));
}

/** The text in the arguments of such a function. A model may write something else, which stays as it is. */
export function unwrapInput(json: string): string {
  return stringOf(objectOf(parseJson(json))?.input) ?? json;
}
