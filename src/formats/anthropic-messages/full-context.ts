/** Words of Anthropic's API for a full context. Claude Code and other clients compact the conversation on these alone. */
const KNOWN = /prompt is too long: \d+ tokens > \d+ maximum|input length and `max_tokens` exceed context limit/i;

/** Length of the message that is searched. */
const SEARCHED = 2048;

const NUMBER = /\d(?:[\d,_]*\d)?/g;

/** The number beside a word for the limit, behind it or in front of it. */
const MAXIMUM =
  /\b(?:max(?:imum)?|context|limit|up to|only supports|allowed|<=|>)[^\d]{0,60}?(\d[\d,_]*)|(\d[\d,_]*) (?:tokens? )?max/i;

/**
 * The message of a full context in Anthropic's words, with the upstream's own behind them. The numbers are those that the
 * upstream's message has.
 */
export function fullContextMessage(message: string): string {
  if (KNOWN.test(message)) return message;
  const numbers = numbersIn(message.slice(0, SEARCHED));
  return `prompt is too long${numbers ? `: ${numbers.tokens} tokens > ${numbers.maximum} maximum` : ''}. ${message}`;
}

function numbersIn(text: string): { readonly tokens: number; readonly maximum: number } | undefined {
  const [, behind, before] = MAXIMUM.exec(text) ?? [];
  const maximum = valueOf(behind ?? before ?? '');
  const tokens = (text.match(NUMBER) ?? []).map(valueOf).find((value) => value > maximum);
  return tokens !== undefined && maximum > 0 && Number.isSafeInteger(tokens) ? { tokens, maximum } : undefined;
}

const valueOf = (digits: string): number => Number(digits.replaceAll(/[,_]/g, ''));
