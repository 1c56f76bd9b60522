import { getHeapStatistics } from 'node:v8';

// Loaded into the gateway with `--import`. Answers each message with the bytes in use, after a collection if `gc` is
// requested. The young generation is larger than all that one measurement allocates, so that nothing is collected
// between two answers.
process.on('message', (request) => {
  if (request === 'gc') globalThis.gc?.();
  process.send?.(getHeapStatistics().used_heap_size);
});
process.channel?.unref();
