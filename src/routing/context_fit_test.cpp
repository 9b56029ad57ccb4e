// Whether a request surely fits an eligible pool.
#include "routing/eligibility.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace weir::routing {
namespace {

using model::Ineligible;

constexpr auto huge = std::numeric_limits<std::uint64_t>::max();

// A pool and a request that fit; a case states only what differs.
struct Situation {
    PoolFacts facts;
    AliasPool pool;
    RequestFacts request;
    ContractFacts contract;

    Situation() {
        facts.endpoints.add(model::Endpoint::chat_completions);
        facts.context_tokens = 8192;
        request.prompt_tokens_at_most = 8000;
        request.max_tokens = 100;
    }
    [[nodiscard]] Verdict verdict() {
        pool.facts = &facts;
        return judge_pool(pool, request, contract, {});
    }
};

TEST(ContextFit, SaysWhetherTheRequestSurelyFits) {
    struct FitCase {
        std::string name;
        std::function<void(Situation&)> difference;
        std::optional<Ineligible> reason;
        ContextFit context = ContextFit::fits;
    };
    const std::vector<FitCase> cases{
        {"bytes and overhead fit", [](Situation& s) { s.pool.state.prompt_overhead_tokens = 92; }, {}},
        {"one more does not",
         [](Situation& s) { s.pool.state.prompt_overhead_tokens = 93; },
         {},
         ContextFit::undecided},
        {"the overhead is not known",
         [](Situation& s) { s.pool.state.prompt_overhead_tokens.reset(); },
         {},
         ContextFit::undecided},
        {"an overhead beyond all bounds",
         [](Situation& s) { s.pool.state.prompt_overhead_tokens = huge; },
         {},
         ContextFit::undecided},
        {"the bound is not known",
         [](Situation& s) { s.request.prompt_tokens_at_most.reset(); },
         {},
         ContextFit::undecided},
        {"the alias has less room", [](Situation& s) { s.contract.context_tokens = 8000; }, {}, ContextFit::undecided},
        {"no size is known", [](Situation& s) { s.facts.context_tokens.reset(); }, {}},
        {"a lower bound beyond it", [](Situation& s) { s.request.prompt_tokens_at_least = 8093; },
         Ineligible::context_exceeded},
        {"an unknown overhead refuses nothing",
         [](Situation& s) {
             s.request.prompt_tokens_at_least = 8092;
             s.pool.state.prompt_overhead_tokens = huge;
         },
         {},
         ContextFit::undecided},
    };
    for (const FitCase& each : cases) {
        Situation situation;
        each.difference(situation);
        const Verdict verdict = situation.verdict();
        EXPECT_EQ(verdict.reason, each.reason) << each.name;
        EXPECT_EQ(verdict.context, each.context) << each.name;
    }
}

}  // namespace
}  // namespace weir::routing
