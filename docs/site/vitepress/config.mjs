import { defineConfig } from 'vitepress';
import { searchOptions } from './search.ts';
import sidebar from './sidebar.json' with { type: 'json' };

/** GitHub's anchor of a heading, so that a link works there and here. */
const slugify = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

/** Vue reads `{{` in the text of a page and in inline code as its own; templates of prompts have it. */
const withoutVue = (text) => text.replaceAll('{{', '&#123;&#123;');

export default defineConfig({
  title: 'Gatehouse',
  description: 'An AI gateway: one HTTP service between applications and hosted models.',
  srcDir: 'pages',
  cleanUrls: false,
  lastUpdated: false,
  // Each page links to its files by a path from the site's root.
  ignoreDeadLinks: [/^\/files\//],
  markdown: {
    anchor: { slugify },
    toc: { slugify },
    headers: false,
    languageAlias: { promql: 'sh' },
    config(md) {
      for (const rule of ['text', 'code_inline']) {
        const render = md.renderer.rules[rule];
        md.renderer.rules[rule] = (...args) => withoutVue(render(...args));
      }
      // A link to a file of the repository leaves the pages: the browser opens it.
      const open = md.renderer.rules.link_open;
      md.renderer.rules.link_open = (tokens, index, ...rest) => {
        if (tokens[index].attrGet('href')?.startsWith('/files/')) tokens[index].attrSet('target', '_self');
        return open(tokens, index, ...rest);
      };
    },
  },
  themeConfig: {
    sidebar,
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        detailedView: false,
        miniSearch: {
          searchOptions,
        },
      },
    },
  },
});
