// Models by the names that check/ uses. They come over the protocol, so protocol/ has the types.
#pragma once

#include "protocol/model.hpp"

namespace allocbench::check {

using protocol::Model;
using Size = protocol::ModelSize;
using Action = protocol::ModelAction;
using Lanes = protocol::ModelLanes;
using Step = protocol::ModelStep;

}  // namespace allocbench::check
