// In check/, the model types have the names below. The types are in protocol/, because models are sent over the
// protocol.
#pragma once

#include "protocol/model.hpp"

namespace allocbench::check {

using protocol::Model;
using Size = protocol::ModelSize;
using Action = protocol::ModelAction;
using Lanes = protocol::ModelLanes;
using Step = protocol::ModelStep;

}  // namespace allocbench::check
