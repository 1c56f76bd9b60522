import { keepCompiledCode } from '../process/compiled-code.ts';

// Must come first: static imports are compiled before anything runs.
keepCompiledCode();
const { main } = await import('./command-line.ts');
await main();
