import type { BuiltinTool, FormatName, Tool } from './conversation.ts';
import { RequestFault } from './faults.ts';
import { stringOf } from './json/object.ts';

interface UntranslatedTool {
  /** The API that has the tool. */
  readonly of: FormatName;
  readonly is: (tool: BuiltinTool, type: string) => boolean;
  /** Why a model of another API cannot get it. */
  readonly reason: (type: string) => string;
}

const COMPUTER = /^computer(?:_use(?:_preview)?)?(?:_\d{4}_\d{2}_\d{2})?$/;
const DATED = /^(?:bash|text_editor|memory|computer|computer_toolset|browser_toolset)_20\d{6}$/;

/**
 * Tools that are a 400 at targets of another API. Every other tool that a target does not have is a reported loss: the model answers
 * without it, as if it had not called it (docs/protocols/openai-responses.md#hosted-tools).
 */
const UNTRANSLATED: readonly UntranslatedTool[] = [
  {
    // Screenshots and actions map to no other API: a model could act and never see what its actions did.
    of: 'openai-responses',
    is: ({ format }, type) => format === 'openai-responses' && COMPUTER.test(type),
    reason: () =>
      'the gateway does not translate computer use of the Responses API: send the request to a model with this API',
  },
  {
    // The client runs them (docs/protocols/anthropic-messages.md#typed-client-tools).
    of: 'anthropic-messages',
    // Callers of Claude put them into OpenAI bodies, too.
    is: (_, type) => DATED.test(type),
    reason: (type) => `only Claude knows the tool \`${type}\`, which has no schema to send to another model`,
  },
];

/** Throws RequestFault for a tool that a target of this API cannot get. */
export function refuseUntranslated(tools: readonly Tool[] = [], target: FormatName): void {
  tools.forEach((tool, at) => {
    if (tool.type !== 'builtin') return;
    const type = stringOf(tool.options?.type) ?? '';
    const found = UNTRANSLATED.find((one) => one.of !== target && one.is(tool, type));
    if (!found) return;
    const param = `tools[${at}].type`;
    throw new RequestFault('unsupported_parameter', `\`${param}\`: ${found.reason(type)}.`, param);
  });
}
