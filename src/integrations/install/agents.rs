//! The agents, a constant each. Places and shapes are those of the products' own packages and documentation.

use super::{Below, Content, Event, File, Hooks, Install, Marks, Shape};

/// Every agent that hooks can be installed for.
pub const INSTALLS: &[Install] = &[CLAUDE, CODEX, GEMINI, COPILOT, VSCODE, CURSOR, GOOSE, OPENHANDS, OPENCODE];

/// The end of a turn may run the tests.
const fn turn(name: &'static str) -> Event {
    Event { name, also: None, seconds: 900 }
}

/// Anything else is read and written down.
const fn quick(name: &'static str) -> Event {
    Event { name, also: None, seconds: 20 }
}

/// An event that has two names.
const fn or(event: Event, also: &'static str) -> Event {
    Event { also: Some(also), ..event }
}

const RULE: Shape = Shape::Rule { milliseconds: false, is_named: false, matcher: None };

/// A command that fails is told apart from one that works, so both are listened to.
const CLAUDE: Install = Install {
    agent: "claude",
    title: "Claude Code",
    project: ".claude",
    user: &[("CLAUDE_CONFIG_DIR", ""), ("HOME", ".claude")],
    files: &[File {
        path: "settings.json",
        content: Content::Hooks(Hooks {
            command: "highwater hook run --agent claude",
            shape: RULE,
            below: Below::Hooks,
            is_versioned: false,
            events: &[
                turn("Stop"),
                quick("PostToolUse"),
                quick("PostToolUseFailure"),
                quick("PreCompact"),
                quick("SessionStart"),
            ],
        }),
    }],
    marks: Marks { project: &[".claude", "CLAUDE.md"], home: &[".claude"], programs: &["claude"] },
    advice: "Copilot CLI and VS Code run the hooks of this file, too",
};

const CODEX: Install = Install {
    agent: "codex",
    title: "Codex CLI",
    project: ".codex",
    user: &[("CODEX_HOME", ""), ("HOME", ".codex")],
    files: &[File {
        path: "hooks.json",
        content: Content::Hooks(Hooks {
            command: "highwater hook run --agent codex",
            shape: RULE,
            below: Below::Hooks,
            is_versioned: false,
            events: &[turn("Stop"), quick("PostToolUse"), quick("PreCompact"), quick("SessionStart")],
        }),
    }],
    marks: Marks { project: &[".codex"], home: &[".codex"], programs: &["codex"] },
    advice: "Codex runs them once they are approved with /hooks, and in a project only if that is trusted",
};

/// Its limits are in milliseconds, and a hook is trusted by its name and command. `PreCompress` is not listened to: it is
/// told before every request to the model, compression or not.
const GEMINI: Install = Install {
    agent: "gemini",
    title: "Gemini CLI",
    project: ".gemini",
    user: &[("GEMINI_CLI_HOME", ".gemini"), ("HOME", ".gemini")],
    files: &[File {
        path: "settings.json",
        content: Content::Hooks(Hooks {
            command: "highwater hook run --agent gemini",
            shape: Shape::Rule { milliseconds: true, is_named: true, matcher: None },
            below: Below::Hooks,
            is_versioned: false,
            events: &[turn("AfterAgent"), quick("AfterTool"), quick("SessionStart")],
        }),
    }],
    marks: Marks { project: &[".gemini", "GEMINI.md"], home: &[".gemini"], programs: &["gemini"] },
    advice: "Gemini CLI runs a project's hooks in a trusted folder only, and warns of them once",
};

/// It and VS Code load every file of this folder, whoever it was written for: they share one, so that neither runs two.
const SHARED: &[File] = &[File {
    path: "hooks/highwater.json",
    content: Content::Hooks(Hooks {
        command: "highwater hook run --agent copilot",
        shape: Shape::Flat,
        below: Below::Hooks,
        is_versioned: true,
        events: &[turn("Stop"), quick("PostToolUse"), quick("PreCompact"), quick("SessionStart")],
    }),
}];

const COPILOT: Install = Install {
    agent: "copilot",
    title: "Copilot CLI and cloud agent",
    project: ".github",
    user: &[("COPILOT_HOME", ""), ("HOME", ".copilot")],
    files: SHARED,
    marks: Marks {
        project: &[".github/hooks", ".github/copilot-instructions.md"],
        home: &[".copilot"],
        programs: &["copilot"],
    },
    advice: "Copilot CLI runs a project's hooks in a trusted folder only; VS Code runs these, too",
};

const VSCODE: Install = Install {
    agent: "vscode",
    title: "VS Code",
    project: ".github",
    user: &[("HOME", ".copilot")],
    files: SHARED,
    marks: Marks { project: &[".vscode"], home: &[".vscode", ".vscode-server"], programs: &["code"] },
    advice: "Copilot CLI runs the hooks of this file, too",
};

const CURSOR: Install = Install {
    agent: "cursor",
    title: "Cursor",
    project: ".cursor",
    user: &[("HOME", ".cursor")],
    files: &[File {
        path: "hooks.json",
        content: Content::Hooks(Hooks {
            command: "highwater hook run --agent cursor",
            shape: Shape::Bare,
            below: Below::Hooks,
            is_versioned: true,
            events: &[turn("stop"), quick("afterShellExecution"), quick("afterFileEdit")],
        }),
    }],
    marks: Marks { project: &[".cursor", ".cursorrules"], home: &[".cursor"], programs: &["cursor", "cursor-agent"] },
    advice: "Cursor reads the file when it starts",
};

/// A matcher is a regular expression there, so none is given: that matches everything.
const GOOSE: Install = Install {
    agent: "goose",
    title: "goose",
    project: ".agents",
    user: &[("HOME", ".agents")],
    files: &[
        File {
            path: "plugins/highwater/plugin.json",
            content: Content::Whole {
                text: "{\n  \"name\": \"highwater\",\n  \"version\": \"1.0.0\",\n  \"description\": \"Records each turn as an \
                       iteration of a highwater loop\"\n}\n",
                mark: "\"highwater\"",
            },
        },
        File {
            path: "plugins/highwater/hooks/hooks.json",
            content: Content::Hooks(Hooks {
                command: "highwater hook run --agent goose",
                shape: RULE,
                below: Below::Hooks,
                is_versioned: false,
                events: &[turn("Stop"), quick("PostToolUse"), quick("PostToolUseFailure"), quick("SessionStart")],
            }),
        },
    ],
    marks: Marks { project: &[".goosehints"], home: &[".config/goose"], programs: &["goose"] },
    advice: "goose loads a project's plugins when it is started there",
};

/// It refuses a file with any key that is no event.
const OPENHANDS: Install = Install {
    agent: "openhands",
    title: "OpenHands",
    project: ".openhands",
    user: &[("HOME", ".openhands")],
    files: &[File {
        path: "hooks.json",
        content: Content::Hooks(Hooks {
            command: "highwater hook run --agent openhands",
            shape: Shape::Rule { milliseconds: false, is_named: false, matcher: Some("*") },
            below: Below::Root,
            is_versioned: false,
            events: &[
                or(turn("stop"), "Stop"),
                or(quick("post_tool_use"), "PostToolUse"),
                or(quick("session_start"), "SessionStart"),
            ],
        }),
    }],
    marks: Marks { project: &[".openhands"], home: &[".openhands"], programs: &["openhands"] },
    advice: "the SDK reads the file where a program passes hook_config=HookConfig.load(…); a project's file hides the user's",
};

/// It has no hooks in its config: a plugin hands the events on.
const OPENCODE: Install = Install {
    agent: "opencode",
    title: "opencode",
    project: ".opencode",
    user: &[("OPENCODE_CONFIG_DIR", ""), ("XDG_CONFIG_HOME", "opencode"), ("HOME", ".config/opencode")],
    files: &[File {
        path: "plugins/highwater.ts",
        content: Content::Whole {
            text: include_str!("../../../templates/opencode.ts"),
            mark: "highwater hook run --agent opencode",
        },
    }],
    marks: Marks {
        project: &[".opencode", "opencode.json", "opencode.jsonc"],
        home: &[".config/opencode"],
        programs: &["opencode"],
    },
    advice: "opencode loads plugins when it starts",
};
