import { countBuffersAsHeap } from '../buffer-memory.ts';
import { keepCompiledCode } from '../compiled-code.ts';

// Must come first, as in cli/main.ts.
countBuffersAsHeap();
keepCompiledCode();
await import('./worker-process.ts');
