import type { LogprobToken } from '../events.ts';

const OPEN = '<think>';
const CLOSE = '</think>';

/** White space that a chat template may write before the opening tag. More of it is an answer. */
const MAX_SPACE = 16;

/** `open` and `gap`: just after a tag, where the template writes line ends. */
type AnswerSection = 'start' | 'open' | 'thought' | 'gap' | 'answer';

interface Split {
  readonly thought: string;
  readonly answer: string;
}

const NOTHING: Split = { thought: '', answer: '' };

/**
 * Splits an answer that begins with its chain of thought in tags (docs/protocols/replies.md#inline-thoughts). The text
 * arrives in any pieces, and the result is the same for all of them. The tags count at the very start only: an answer
 * that mentions them later stays unchanged. The line ends beside the tags are the template's and are left out.
 */
export class InlineThoughts {
  #place: AnswerSection = 'start';
  /** Text that may be a tag or the line end before one: shorter than `MAX_SPACE` and a tag together. */
  #held = '';

  #thinks: boolean | undefined;

  /** Whether the answer began with a chain of thought; undefined until its start shows that. */
  get thinks(): boolean | undefined {
    return this.#thinks;
  }

  /** True inside the answer itself, which follows the chain of thought if there is one. */
  get answering(): boolean {
    return this.#place === 'answer';
  }

  push(text: string): Split {
    if (this.#place === 'answer') return { thought: '', answer: text };
    const all = this.#held + text;
    this.#held = '';
    switch (this.#place) {
      case 'start':
        return this.#start(all);
      case 'open':
        return this.#open(all);
      case 'thought':
        return this.#thought(all);
      case 'gap':
        return this.#gap(all);
    }
  }

  /** Returns the held text: no tag follows. */
  flush(): Split {
    const held = this.#held;
    this.#held = '';
    if (this.#place === 'thought') return { thought: held, answer: '' };
    return held === '' ? NOTHING : this.#answer(held);
  }

  /** The answer begins without a chain of thought. */
  #answer(text: string): Split {
    this.#thinks = false;
    this.#place = 'answer';
    return { thought: '', answer: text };
  }

  #start(all: string): Split {
    const from = skip(all, SPACE);
    if (from > MAX_SPACE) return this.#answer(all);
    if (all.startsWith(OPEN, from)) {
      this.#thinks = true;
      this.#place = 'open';
      return this.#open(all.slice(from + OPEN.length));
    }
    if (OPEN.startsWith(all.slice(from))) {
      this.#held = all;
      return NOTHING;
    }
    return this.#answer(all);
  }

  #open(all: string): Split {
    const from = skip(all, LINE_END);
    if (from === all.length) return NOTHING;
    this.#place = 'thought';
    return this.#thought(all.slice(from));
  }

  #thought(all: string): Split {
    const close = all.indexOf(CLOSE);
    if (close < 0) {
      const end = beforeLineEnd(all, all.length - partOfClose(all));
      this.#held = all.slice(end);
      return { thought: all.slice(0, end), answer: '' };
    }
    this.#place = 'gap';
    const { answer } = this.#gap(all.slice(close + CLOSE.length));
    return { thought: all.slice(0, beforeLineEnd(all, close)), answer };
  }

  #gap(all: string): Split {
    const from = skip(all, LINE_END);
    if (from === all.length) return NOTHING;
    this.#place = 'answer';
    return { thought: '', answer: all.slice(from) };
  }
}

/** True when a whole answer begins with a chain of thought in tags. */
export function beginsWithThoughts(text: string): boolean {
  const from = skip(text, SPACE);
  return from <= MAX_SPACE && text.startsWith(OPEN, from);
}

const SPACE = ' \t\r\n';
const LINE_END = '\r\n';

function skip(text: string, characters: string): number {
  let at = 0;
  while (at < text.length && characters.includes(text.charAt(at))) at += 1;
  return at;
}

/** Length of the longest end of the text that begins the closing tag. */
function partOfClose(text: string): number {
  let length = Math.min(CLOSE.length - 1, text.length);
  while (!CLOSE.startsWith(text.slice(text.length - length))) length -= 1;
  return length;
}

/** Index of the line end before `at`, or `at` itself. */
function beforeLineEnd(text: string, at: number): number {
  const before = text.charAt(at - 1) === '\n' ? at - 1 : at;
  return text.charAt(before - 1) === '\r' ? before - 1 : before;
}

/** Tokens that are held until the answer has begun. A tag has fewer, unless an upstream sends empty ones. */
const MAX_TOKENS = 64;

/** Selects the log probabilities of the answer: those of the chain of thought would spell it out. */
export class AnswerTokens {
  readonly #split = new InlineThoughts();
  #held: LogprobToken[] = [];

  push(tokens: readonly LogprobToken[]): readonly LogprobToken[] {
    if (this.#split.answering) return tokens;
    const kept: LogprobToken[] = [];
    for (const token of tokens) {
      const { answer } = this.#split.push(token.token);
      if (this.#split.thinks === undefined) {
        if (this.#held.length < MAX_TOKENS) this.#held.push(token);
        continue;
      }
      if (!this.#split.thinks) kept.push(...this.#held);
      this.#held = [];
      if (answer !== '') kept.push(token);
    }
    return kept;
  }
}
