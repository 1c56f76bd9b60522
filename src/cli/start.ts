import { countBuffersAsHeap } from '../process/buffer-memory.ts';
import { keepCompiledCode } from '../process/compiled-code.ts';

// Must come first: static imports are compiled before anything runs.
countBuffersAsHeap();
keepCompiledCode();
const { main } = await import('./command-line.ts');
await main();
