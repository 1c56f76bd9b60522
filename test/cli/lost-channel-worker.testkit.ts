import { createServer } from 'node:net';

/** Listens, then is blocked for good; a moment before that it says more than the primary reads at once. */
const BLOCKED_BEFORE_MS = 600;

createServer((socket) => socket.end()).listen(0, '127.0.0.1');
process.on('message', () => {
  for (const end = Date.now() + BLOCKED_BEFORE_MS; Date.now() < end;);
  for (let line = 0; line < 40; line += 1) process.send!({ text: 'x'.repeat(10_000) }, undefined, undefined, () => {});
  for (;;);
});
