import { expect, it } from 'vitest';
import type { GenerationEvent } from '../events.ts';
import { formats } from '../index.ts';
import { clientContext, replyWith } from '../contexts.testkit.ts';
import { noLosses } from '../losses/reply-losses.ts';

const EVENTS: readonly GenerationEvent[] = [
  { type: 'start', model: 'claude-sonnet-4-5' },
  { type: 'redacted_thinking', choice: 0, block: 0, data: 'c2VhbGVk' },
  { type: 'text', choice: 0, block: 1, text: 'Four.' },
  { type: 'finish', choice: 0, reason: 'stop' },
  { type: 'end' },
];

it.each(['plain', 'streamed'])('a redacted thought is a reported loss for clients of the Gemini API, %s', (form) => {
  const notes = noLosses();
  const { gemini } = formats;
  const text =
    form === 'plain'
      ? JSON.stringify(replyWith(gemini, EVENTS, clientContext(), notes))
      : gemini.encodeStream(clientContext(), notes).push(EVENTS);
  expect(text).toContain('Four.');
  expect(text).not.toContain('c2VhbGVk');
  expect(notes.losses).toMatchObject([{ param: 'reply.content_blocks' }]);
});
