/* completion.c - `completion`: the scripts that connect bash, zsh and fish with
 * complete.c. */

#include <string.h>

#include "hypertune/cli/frame/commands.h"
#include "proto/base/words.h"

static const char bash[] =
    "# hypertune completion for bash; in ~/.bashrc:\n"
    "#     . <(hypertune completion bash)\n"
    "_hypertune()\n"
    "{\n"
    "    local line\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r line; do\n"
    "        if [[ $line == :files ]]; then\n"
    "            compopt -o default 2>/dev/null\n"
    "            continue\n"
    "        fi\n"
    "        line=${line%%$'\\t'*}\n"
    "        [[ $line == *[=/] ]] && compopt -o nospace 2>/dev/null\n"
    "        COMPREPLY+=(\"$line\")\n"
    "    done < <(\"$1\" complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" "
    "2>/dev/null)\n"
    "}\n"
    "complete -o nosort -F _hypertune hypertune 2>/dev/null ||\n"
    "    complete -F _hypertune hypertune\n";

static const char zsh[] =
    "#compdef hypertune\n"
    "# hypertune completion for zsh; in ~/.zshrc, behind compinit:\n"
    "#     source <(hypertune completion zsh)\n"
    "_hypertune() {\n"
    "    local line name\n"
    "    local -a names about open\n"
    "    while IFS= read -r line; do\n"
    "        if [[ $line == :files ]]; then\n"
    "            compset -P '--*='\n"
    "            _files\n"
    "            continue\n"
    "        fi\n"
    "        name=${line%%$'\\t'*}\n"
    "        if [[ $name == *[=/] ]]; then\n"
    "            open+=(\"$name\")\n"
    "        else\n"
    "            names+=(\"$name\")\n"
    "            about+=(\"${line//$'\\t'/  }\")\n"
    "        fi\n"
    "    done < <(\"${words[1]}\" complete \"${(@)words[2,CURRENT]}\" "
    "2>/dev/null)\n"
    "    (( $#names )) && compadd -l -d about -a names\n"
    "    (( $#open )) && compadd -S '' -a open\n"
    "    return 0\n"
    "}\n"
    "if [[ $funcstack[1] == _hypertune ]]; then\n"
    "    _hypertune \"$@\"\n"
    "else\n"
    "    compdef _hypertune hypertune\n"
    "fi\n";

static const char fish[] =
    "# hypertune completion for fish; in ~/.config/fish/config.fish:\n"
    "#     hypertune completion fish | source\n"
    "function __hypertune_complete\n"
    "    set -l words (commandline -opc) (commandline -ct)\n"
    "    set -l program $words[1]\n"
    "    for line in ($program complete $words[2..-1] 2>/dev/null)\n"
    "        if test \"$line\" = ':files'\n"
    "            __fish_complete_path (commandline -ct)\n"
    "        else\n"
    "            printf '%s\\n' $line\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c hypertune -f -a '(__hypertune_complete)'\n";

int cli_completion(struct cli *cli)
{
    static const char *const names[] = {"bash", "zsh", "fish", NULL};
    static const char *const scripts[] = {bash, zsh, fish};
    const char *shell = cli->args.words.items[0];
    for (size_t i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], shell) == 0) {
            struct text out = {0};
            text_puts(&out, scripts[i]);
            return cli_print(&out);
        }
    }
    return cli_fail(cli, CLI_USAGE,
                    "no completion for \"%s\"%s; there are bash, zsh and "
                    "fish",
                    shell, words_hint(cli->arena, shell, names));
}
