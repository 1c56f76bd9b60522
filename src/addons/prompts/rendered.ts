import { GatewayError } from '../../plugin/index.ts';
import type { CompiledMessage, CompiledPart, CompiledVersion } from './compile.ts';
import { mediaPart, type ChatPart } from './media.ts';
import { Renderer, TooLong } from './render.ts';
import { VariableCheck } from './variables.ts';

/** A part of a message that a caller's value became. */
interface PlacedMedia {
  readonly variable: string;
  readonly part: ChatPart;
}

export class PromptRenderer {
  readonly #version: CompiledVersion;
  readonly #check: VariableCheck;

  constructor(version: CompiledVersion) {
    this.#version = version;
    this.#check = new VariableCheck(version.variables);
  }

  /**
   * Renders each text by itself, so a value can change its own text only: never the number, the roles or the parts of the
   * messages. Throws GatewayError for values that the prompt does not take.
   * @param budget characters that all texts together may have
   */
  render(
    given: Readonly<Record<string, unknown>>,
    budget: number,
  ): { readonly fields: Readonly<Record<string, unknown>>; readonly media: readonly PlacedMedia[] } {
    const read = this.#check.read(given);
    if (!('values' in read)) {
      const { missing, message, param } = read;
      throw new GatewayError(missing ? 'missing_required_parameter' : 'invalid_value', message, { param });
    }
    const { file, messages, partials } = this.#version;
    const media: PlacedMedia[] = [];
    const renderer = new Renderer({ partials, variables: read.values }, budget);
    const part = (one: CompiledPart): ChatPart => {
      if (one.kind === 'literal') return one.part;
      if (one.kind === 'template') return { ...one.fields, text: renderer.render(one.template) };
      const placed = this.#media(one.variable, read.values);
      if (Object.hasOwn(given, one.variable)) media.push({ variable: one.variable, part: placed });
      return placed;
    };
    try {
      const rendered = messages.map((message) => ({ ...message.fields, ...contentOf(message, renderer, part) }));
      const { model, tools, response_format: format, parameters = {} } = file;
      const own = { model, messages: rendered, ...parameters, tools, response_format: format };
      return { fields: Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)), media };
    } catch (error) {
      if (!(error instanceof TooLong)) throw error;
      throw new GatewayError('request_too_large', `The rendered prompt exceeds ${budget} characters.`, {
        param: 'variables',
      });
    }
  }

  #media(name: string, values: Readonly<Record<string, unknown>>): ChatPart {
    const placed = mediaPart(this.#version.variables.get(name)?.media ?? 'file', name, String(values[name]));
    if (placed) return placed;
    const message = `\`variables.${name}\` must be an https:, gs: or base64 data: URL, or the id of a file.`;
    throw new GatewayError('invalid_value', message, { param: `variables.${name}` });
  }
}

const contentOf = (
  { content }: CompiledMessage,
  renderer: Renderer,
  part: (one: CompiledPart) => ChatPart,
): { content?: string | readonly ChatPart[] } =>
  content === undefined ? {} : { content: 'tokens' in content ? renderer.render(content) : content.map(part) };
