import { definePlugin } from '../../../../core/kernel/index.ts';
import { wordsOf } from '../words.ts';

/** Runs the guards of server.yaml, of the key and of the config. */
export default definePlugin({
  name: 'guards',
  level: 'request',
  needs: ['guards'],
  requires: ['body'],
  pure: true,
  explain: ({ exchange }) => wordsOf(exchange),
  create: ({ host }) => host.guards.open('request'),
});
