import { definePlugin } from '../../../../core/kernel/index.ts';
import { wordsOf } from '../words.ts';

/** Runs the guards of a target, at each attempt at it. */
export default definePlugin({
  name: 'target-guards',
  level: 'attempt',
  needs: ['guards'],
  pure: true,
  idleFor: ({ guards }) => guards === undefined,
  explain: ({ exchange }) => wordsOf(exchange),
  create: ({ host }) => host.guards.open('attempt'),
});
