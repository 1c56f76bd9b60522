/** Writes the files of deploy/ into docs/operate/deploy.md, which shows them: `npm run generate`. A test compares. */
import { readFileSync, writeFileSync } from 'node:fs';
import { packageFile } from '../../src/core/kernel/package-root.ts';

export const PAGE = packageFile('docs/operate/deploy.md');

const BLOCK = /<!-- deploy\/(\S+): written by `npm run generate`\. -->\n\n```(\w+)\n[^]*?```/g;

/** The page with its blocks as the files are now. */
export const deployPage = (page: string): string =>
  page.replaceAll(BLOCK, (_, file: string, kind: string) => {
    const text = readFileSync(packageFile(`deploy/${file}`), 'utf8');
    return `<!-- deploy/${file}: written by \`npm run generate\`. -->\n\n\`\`\`${kind}\n${text}\`\`\``;
  });

if (process.argv[1] === import.meta.filename) writeFileSync(PAGE, deployPage(readFileSync(PAGE, 'utf8')));
