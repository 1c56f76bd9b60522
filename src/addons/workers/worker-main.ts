import { keepCompiledCode } from '../../core/process/compiled-code.ts';

// Must come first, as in cli/main.ts.
keepCompiledCode();
await import('./worker-process.ts');
