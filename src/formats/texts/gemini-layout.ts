import type { TextKind } from './channels.ts';
import type { LayoutReader, LocatedText, ReplyLayout } from './layout.ts';
import { members, type Found, type TextNode } from './walk.ts';

/** Replies of `generateContent` and `streamGenerateContent`: parts have no numbers, and clients join all texts of a candidate. */

const RESULT: TextNode = { leaf: 'result' };

const PART: TextNode = {
  counts: 'part',
  members: members({
    text: { leaf: 'text' },
    thought: { sets: 'thought' },
    thoughtSignature: { leaf: 'sealed', sealed: 'base64' },
    functionCall: {
      members: members({
        args: { leaf: 'args', json: true },
        partialArgs: { items: { members: members({ stringValue: { leaf: 'partial' } }) } },
      }),
    },
    executableCode: { members: members({ code: { leaf: 'code' } }) },
    codeExecutionResult: { members: members({ output: RESULT }) },
  }),
};

/** Passages that Google has found in the web or in files of the caller, and what it has searched for. */
const PASSAGE: TextNode = { members: members({ text: RESULT, title: RESULT }) };
const GROUNDING = members({
  groundingChunks: { items: { members: members({ web: PASSAGE, retrievedContext: PASSAGE, maps: PASSAGE }) } },
  webSearchQueries: { items: RESULT },
  retrievalQueries: { items: RESULT },
  searchEntryPoint: { members: members({ renderedContent: RESULT }) },
  groundingSupports: { follows: '[]' },
});

function open(): LayoutReader {
  let calls = 0;
  const locate = ({ node: { leaf }, place: { choice: answer, thought } }: Found): LocatedText => {
    if (leaf === 'error') return { key: leaf, kind: leaf, answer: 0, block: 0, as: 'whole' };
    if (leaf === 'sealed') return { key: leaf, kind: 'thinking', answer, block: calls, as: 'whole' };
    if (leaf === 'result') return { key: leaf, kind: 'tool_result', answer, block: calls, as: 'whole' };
    if (leaf === 'args' || leaf === 'code') {
      const block = calls++;
      return { key: `call:${block}`, kind: 'tool_arguments', answer, block, as: 'whole' };
    }
    if (leaf === 'partial') return { key: `${leaf}:${answer}`, kind: 'tool_arguments', answer, block: 0, as: 'piece' };
    const kind: TextKind = thought ? 'thinking' : 'text';
    return { key: `${kind}:${answer}`, kind, answer, block: 0, as: 'piece' };
  };
  return { locate };
}

export const geminiLayout: ReplyLayout = {
  repeats: false,
  rests: true,
  root: {
    members: members({
      candidates: {
        items: {
          counts: 'choice',
          members: members({
            index: { sets: 'choice' },
            content: { members: members({ parts: { items: PART } }) },
            citationMetadata: { follows: '{}' },
            logprobsResult: { follows: '{}' },
            groundingMetadata: { members: GROUNDING },
          }),
        },
      },
      error: { members: members({ message: { leaf: 'error' } }) },
    }),
  },
  open,
};
