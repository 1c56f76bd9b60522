import { expect, test } from 'vitest';
import { growthOf, MOST_GROWTH } from './measure.ts';
import { TASK_REPLIES } from './task-replies.ts';

/** Vectors, images, and replies that a cache gives again: what is read beside chats (replies.test.ts). */
test.each(TASK_REPLIES)(
  'The cost of a reply grows with its bytes ($name)',
  { timeout: 120_000 },
  ({ prepare, most = MOST_GROWTH }) => {
    expect(growthOf(prepare).factor).toBeLessThan(most);
  },
);
