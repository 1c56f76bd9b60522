import { expect, test } from 'vitest';
import { DOOR_REPLIES } from './door-replies.ts';
import { growthOf, MOST_GROWTH } from './measure.ts';
import { TASK_REPLIES } from './task-replies.ts';

/** Vectors, images, streams of tasks, replies that are kept or named anew: what is read beside chats (replies.test.ts). */
test.each([...TASK_REPLIES, ...DOOR_REPLIES])(
  'The cost of a reply grows with its bytes ($name)',
  { timeout: 120_000 },
  ({ prepare, most = MOST_GROWTH }) => {
    expect(growthOf(prepare).factor).toBeLessThan(most);
  },
);
