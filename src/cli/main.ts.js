// `node src/cli/main.ts` starts this file: Node adds `.js` to the name of a file that is not there. A real main.ts could not say which
// Node it needs, because an old Node does not read TypeScript.
import './main.js';
